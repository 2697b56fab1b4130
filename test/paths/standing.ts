/**
 * Standing of an actor after a step, said in the same way by a situation and by a stored record, and where
 * the two differ.
 *
 * Everything is compared as JSON, which is what a record and a message are; the order of fields is
 * nobody's business.
 */

import type { StoredRow } from '../../runtime/ports/store.ts';
import { tablesOf, unmarkRecord } from '../../runtime/statechart/tables.ts';
import type { Message, Situation } from './situation.ts';

export interface Standing {
  readonly status: unknown;
  readonly state: unknown;
  readonly context: unknown;
  readonly deadlines: unknown;
  /** Messages that nobody has answered, in the order in which they were said. */
  readonly messages: unknown;
  /** What left in the step. */
  readonly hints: unknown;
  readonly actions: unknown;
  readonly emitted: unknown;
  /** Why anybody who said something was sent away; null when it was taken. */
  readonly refusal: unknown;
}

export interface Left {
  readonly hints: readonly Message[];
  readonly actions: readonly unknown[];
  readonly emitted: readonly unknown[];
  readonly refusal: string | null;
}

/** The parts of a record that a path is about; see runtime/actor/record.ts. */
interface StoredRecord {
  readonly status?: string;
  readonly snapshot: { readonly value: unknown; readonly context: unknown };
  readonly timers?: ReadonlyArray<
    readonly [id: string, dueAt: number, rest?: { readonly event?: object; readonly to?: string }]
  >;
  readonly outbox?: ReadonlyArray<
    readonly [counter: number, to: string, event: object, at?: number]
  >;
}

export function standingOf(situation: Situation, performed: ReadonlySet<string>): Standing {
  const { snapshot, deadlines, kept, hints, asked, emitted, refusal } = situation;
  return {
    status: snapshot.status,
    state: snapshot.value,
    context: snapshot.context,
    deadlines: deadlines.map(({ id, dueAt, event, to }) => ({ id, dueAt, event, to: to?.address })),
    messages: kept.map(({ counter, to, event }) => [counter, to, event]),
    hints,
    actions: asked
      .filter(({ type }) => performed.has(type))
      .map(({ type: name, params }) => ({ name, params })),
    emitted,
    refusal,
  };
}

export function storedStanding(text: string, rows: Iterable<StoredRow>, left: Left): Standing {
  const record = unmarkRecord(JSON.parse(text) as StoredRecord, tablesOf(rows));
  const { status, snapshot, timers = [], outbox = [] } = record;
  return {
    status: status ?? 'active',
    state: snapshot.value,
    context: snapshot.context,
    deadlines: timers.map(([id, dueAt, rest]) => ({
      id,
      dueAt,
      event: rest?.event ?? { type: id },
      to: rest?.to,
    })),
    messages: outbox
      .toSorted(([one], [other]) => one - other)
      .map(([counter, to, event]) => [counter, to, event] as const),
    ...left,
  };
}

/** The first part that differs, as both sides have it; undefined when none does. */
export function differenceOf(
  pure: Standing,
  engine: Standing,
): { readonly what: string; readonly pure: string; readonly engine: string } | undefined {
  for (const what of Object.keys(pure) as Array<keyof Standing>) {
    const [one, other] = [textOf(pure[what]), textOf(engine[what])];
    if (one !== other) return { what, pure: one, engine: other };
  }
  return undefined;
}

function textOf(value: unknown): string {
  // Once through JSON, so that whatever has a form of its own there is shown in it.
  return JSON.stringify(sorted(JSON.parse(JSON.stringify(value ?? null))));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(fields.map(([name, inner]) => [name, sorted(inner)]));
}
