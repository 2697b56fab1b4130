/**
 * Small histories by hand: records with everything that does not matter filled in, and what an
 * invariant says of them.
 *
 *   const story = history().add('a-1', started()).at(10).add('a-1', turn('job/j1@A', { turn: 1 }));
 *   expect(whatBroke(effectOnce, story)).toEqual([]);
 */

import type {
  ActorFact,
  CommitFact,
  FaultFact,
  FrameFact,
  HistoryFact,
  HistoryRecord,
  NodeFact,
  SentFact,
  TimersFact,
  TurnFact,
  UndeliveredFact,
} from '../../../simulator/history/history.ts';
import { type Invariant, judge, type RunFacts } from '../../../simulator/invariants/invariant.ts';

export const FACTS: RunFacts = {
  places: { 'a-1': 'A', 'a-2': 'A', 'b-1': 'B', 'w-1': 'w-1' },
  epsilonMs: 0,
  deltaMs: 50,
  healedAtMs: null,
  core: ['a-1', 'a-2', 'b-1', 'w-1'],
  isFaultFree: true,
};

/** Records in the order in which they are added. */
export class Story {
  readonly records: HistoryRecord[] = [];
  #atMs = 0;

  /** Everything from now on happens then. */
  at(atMs: number): this {
    this.#atMs = atMs;
    return this;
  }

  add(node: string, ...facts: readonly HistoryFact[]): this {
    for (const fact of facts) {
      const common = { index: this.records.length, atMs: this.#atMs, node };
      this.records.push({ ...common, ...fact } as HistoryRecord);
    }
    return this;
  }

  get endsAtMs(): number {
    return this.#atMs;
  }
}

export function history(): Story {
  return new Story();
}

interface Told {
  readonly records: readonly HistoryRecord[];
  readonly endsAtMs: number;
}

/** What the invariant says was wrong, in words; nothing when it holds. */
export function whatBroke<TFacts extends RunFacts = RunFacts>(
  invariant: Invariant<TFacts>,
  told: Told,
  facts: Partial<TFacts> = {},
): readonly string[] {
  const all = { ...FACTS, ...facts } as TFacts;
  return judge([invariant], all, told.records, told.endsAtMs).violations.map(({ what }) => what);
}

/** How often the invariant applied. */
export function howOften<TFacts extends RunFacts = RunFacts>(
  invariant: Invariant<TFacts>,
  told: Told,
  facts: Partial<TFacts> = {},
): number {
  const all = { ...FACTS, ...facts } as TFacts;
  return judge([invariant], all, told.records, told.endsAtMs).exercised[invariant.id] ?? 0;
}

/** The same history without the records that fit. */
export function without(told: Told, fits: (record: HistoryRecord) => boolean): Told {
  return { records: told.records.filter((record) => !fits(record)), endsAtMs: told.endsAtMs };
}

export function node(change: NodeFact['change'], life = 1): NodeFact {
  return { type: 'node', change, life, skewMs: 0, driftPpm: 0 };
}

export function started(life = 1): NodeFact {
  return node('started', life);
}

export function turn(address: string, parts: Partial<TurnFact> = {}): TurnFact {
  return {
    type: 'turn',
    place: address.slice(address.lastIndexOf('@') + 1),
    address,
    kind: address.slice(0, address.indexOf('/')),
    turn: 1,
    takenAt: 0,
    event: { type: 'told' },
    from: undefined,
    counter: undefined,
    state: 'open',
    context: {},
    error: undefined,
    ...parts,
  };
}

export function actor(address: string, change: ActorFact['change']): ActorFact {
  const place = address.slice(address.lastIndexOf('@') + 1);
  return { type: 'actor', place, address, kind: address.slice(0, address.indexOf('/')), change };
}

export function sent(
  from: string,
  counter: number,
  to: string,
  event: { readonly type: string } = { type: 'told' },
): SentFact {
  const place = from.slice(from.lastIndexOf('@') + 1);
  return { type: 'sent', place, from, counter, to, event };
}

export function timers(address: string, due: Readonly<Record<string, number>>): TimersFact {
  const place = address.slice(address.lastIndexOf('@') + 1);
  const rows = Object.entries(due).map(([id, dueAt]) => ({ id, dueAt }));
  return { type: 'timers', place, address, timers: rows };
}

export function undelivered(to: string, event = { type: 'told' }): UndeliveredFact {
  const error = { code: 'ACTOR_UNKNOWN', message: 'There is none.', retryable: false } as const;
  return { type: 'undelivered', place: 'A', to, event, error };
}

/** A group; `writes` are the records that are in the store because of it. */
export function commit(
  place: string,
  fence: number,
  writes: Readonly<Record<string, string | null>> = {},
  parts: Partial<CommitFact> = {},
): CommitFact {
  const addresses = Object.keys(writes);
  return {
    type: 'commit',
    place,
    shard: place,
    fence,
    change: 'settled',
    writes: Object.entries(writes).map(([address, record]) => ({ address, record })),
    addresses,
    error: undefined,
    ...parts,
  };
}

/** An encoded record as runtime/actor/record.ts writes it. */
export function record(turns: number, parts: Readonly<Record<string, unknown>> = {}): string {
  const snapshot = { value: 'open', context: {} };
  return JSON.stringify({
    format: 1,
    kind: 'job',
    version: 1,
    turns,
    at: 0,
    snapshot,
    ...parts,
  });
}

export interface FrameParts {
  readonly envelopes?: ReadonlyArray<{
    from: string;
    counter: number;
    to: string;
    after?: number;
  }>;
  readonly receipts?: ReadonlyArray<{ from: string; counter: number; to: string; error?: unknown }>;
}

export function frame(
  to: string,
  { envelopes = [], receipts = [] }: FrameParts,
  change: FrameFact['change'] = 'sent',
): FrameFact {
  const whole = envelopes.map((one) => ({ after: 0, event: { type: 'told' }, ...one }));
  return {
    type: 'frame',
    to,
    change,
    frame: JSON.stringify({ v: 1, envelopes: whole, receipts }),
  };
}

export function fault(
  kind: string,
  about: unknown,
  change: FaultFact['change'] = 'began',
): FaultFact {
  return { type: 'fault', kind, id: kind, change, about };
}
