/** Releases of an order machine, and stores that a real runtime filled with one of them. */

import { type AnyStateMachine, setup } from 'xstate';
import type { KindOptions } from '../../runtime/actor/kind.ts';
import type { Store } from '../../runtime/ports/store.ts';
import { rehearsedKinds } from '../../runtime/rehearsal/kinds.ts';
import {
  type Rehearsal,
  type RehearsalOptions,
  rehearse,
} from '../../runtime/rehearsal/rehearsal.ts';
import { testRuntime } from '../../simulator/testing.ts';
import { memoryStore } from '../../stores/memory.ts';

/** As a module exports it: a machine, or `{ machine, … }`, by kind. */
export type Release = Record<string, unknown>;

export interface OrderShape {
  readonly open?: string;
  readonly limitMs?: number | (({ context }: { context: { total: number } }) => number);
  readonly after?: Record<string, unknown>;
  readonly extraState?: string;
}

/** `open` waits for a payment with a deadline; the shape says how a release differs from that. */
export function order(shape: OrderShape = {}): AnyStateMachine {
  const { open = 'open', limitMs = 900_000, after, extraState } = shape;
  const machine = setup({
    types: {
      context: {} as { total: number },
      input: {} as { total: number },
      events: {} as { type: 'order.paid' } | { type: 'order.cancel' },
    },
    delays: { limit: limitMs as never, reminder: 60_000 },
  }).createMachine({
    id: 'order',
    context: ({ input }: { input: { total: number } }) => ({ total: input.total }),
    initial: open,
    states: {
      [open]: {
        on: { 'order.paid': 'paid', 'order.cancel': 'cancelled' },
        after: (after ?? { limit: 'expired' }) as never,
      },
      paid: {},
      cancelled: { type: 'final' },
      expired: {},
      ...(extraState === undefined ? {} : { [extraState]: {} }),
    },
  } as never);
  return machine as unknown as AnyStateMachine;
}

/** Runs a release for real: the orders by key, each with the events it takes. */
export async function stored(
  release: Release,
  actors: Record<string, readonly string[]>,
  advance?: string,
): Promise<Store> {
  const store = memoryStore();
  const runtime = await running(release, store);
  for (const [address, events] of Object.entries(actors)) {
    const actor = await runtime.spawn(address as 'order/1', { input: { total: 99 } } as never);
    for (const type of events) await actor.send({ type } as never);
  }
  if (advance !== undefined) await runtime.advance(advance);
  await runtime.stop();
  return store;
}

/** A real runtime over the store, with a release. */
export function running(release: Release, store: Store) {
  const machines: Record<string, AnyStateMachine> = {};
  const options: Record<string, KindOptions> = {};
  for (const [name, entry] of Object.entries(release)) {
    const given = entry as AnyStateMachine | (KindOptions & { machine: AnyStateMachine });
    const { machine, ...rest } = 'provide' in given ? { machine: given } : given;
    machines[name] = machine;
    options[name] = rest;
  }
  return testRuntime({ kinds: machines, options: options as never, store });
}

export function rehearseUpgrade(
  store: Store,
  old: Release | undefined,
  next: Release,
  options: Partial<RehearsalOptions> = {},
): Rehearsal {
  return rehearse({
    store,
    old: old && rehearsedKinds({ kinds: old }),
    next: rehearsedKinds({ kinds: next }),
    examplesMax: 3,
    ...options,
  });
}

/** `kind name count detail`, one line per finding. */
export function linesOf({ findings }: Rehearsal): string[] {
  return findings.map(({ kind, name, count, detail }) => `${kind} ${name} ${count} ${detail}`);
}
