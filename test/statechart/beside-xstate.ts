/**
 * One machine under XState's own `createActor` and under the runtime, step by step, with what can be
 * seen of it after each: states, contexts, children, and what its actions wrote down. With `crashes`
 * the runtime dies after every step; nothing may be seen of that but children that begin again.
 */

import { type AnyStateMachine, createActor, SimulatedClock } from 'xstate';
import type { Logger } from '../../runtime/base/limits.ts';
import { testRuntime } from '../../simulator/testing.ts';

/** An event type, an event, or milliseconds that pass. */
export type Step = string | number | { readonly type: string; readonly [field: string]: unknown };

export interface Seen {
  readonly states: readonly unknown[];
  readonly log: readonly string[];
}

export type Make = (log: string[]) => AnyStateMachine;

export async function underXState(make: Make, steps: readonly Step[]): Promise<Seen> {
  const log: string[] = [];
  const clock = new SimulatedClock();
  const actor = createActor(make(log), { clock, logger: () => {} });
  actor.subscribe({ error: (thrown) => log.push(`failed: ${thrown}`) });
  actor.start();
  const states: unknown[] = [];
  await settled();
  states.push(viewOf(actor.getSnapshot()));
  for (const step of steps) {
    if (typeof step === 'number') for (let ms = 0; ms < step; ms += 1) clock.increment(1);
    else actor.send(eventOf(step) as never);
    await settled();
    states.push(viewOf(actor.getSnapshot()));
  }
  return { states, log };
}

export async function underRuntime(
  make: Make,
  steps: readonly Step[],
  { crashes = false, warned = [] as string[] } = {},
): Promise<Seen> {
  const log: string[] = [];
  const write = (_: object, text: string): void => void warned.push(text);
  const logger: Logger = { debug() {}, info() {}, warn: write, error: write };
  const runtime = await testRuntime({ kinds: { machine: make(log) }, logger });
  const actor = await runtime.spawn('machine/1');
  const states: unknown[] = [];
  const look = async (): Promise<void> => {
    for (let round = 0; round < 5; round += 1) {
      await settled();
      await runtime.settle();
    }
    if (crashes) await runtime.crash();
    states.push(viewOf(actor.getSnapshot() as never));
  };
  await look();
  for (const step of steps) {
    if (typeof step === 'number') await runtime.advance(step);
    else await actor.send(eventOf(step) as never);
    await look();
  }
  await runtime.stop();
  return { states, log };
}

interface Snapshot {
  readonly status: string;
  readonly value?: unknown;
  readonly context?: unknown;
  readonly children?: Readonly<Record<string, { getSnapshot(): Snapshot }>>;
}

function viewOf({ status, value, context, children = {} }: Snapshot): unknown {
  const below = Object.entries(children).map(([id, child]) => [id, viewOf(child.getSnapshot())]);
  return JSON.parse(JSON.stringify({ status, value, context, below }, withoutNumbers));
}

/** References by what they are called; a root is called otherwise here. */
function withoutNumbers(_: string, value: unknown): unknown {
  const { xstate$$type: isRef, id } = (value ?? {}) as { xstate$$type?: number; id?: string };
  if (isRef === undefined) return value;
  return id === 'machine/1@test' || id?.startsWith('x:') ? 'the root' : `child ${id}`;
}

function eventOf(step: string | object): object {
  return typeof step === 'string' ? { type: step } : step;
}

/** Every promise that can settle has done so. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
