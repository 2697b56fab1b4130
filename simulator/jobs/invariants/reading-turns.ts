/**
 * The turns of the actors of one kind, each with what is known of the ones before it.
 *
 * Guarantees: `before` is the turn directly before and nothing else. A turn that nobody saw, because
 * its node died between the commit and telling of it, leaves a gap: then there is a `last`, and no
 * `before`. What a node tells late, when another has gone on, is left out. A spawn, and a store that
 * went back, make the actor one that nothing is known of.
 */

import { placeOf } from '../../../runtime/base/address.ts';
import type { HistoryRecord, RecordOf, SentFact, TimersFact, TurnFact } from '../../history.ts';
import { lostDisk, type Watcher } from '../../invariants.ts';

export type TurnRecord = RecordOf<TurnFact>;
export type SentRecord = RecordOf<SentFact>;
export type TimersRecord = RecordOf<TimersFact>;
export type FaultRecord = Extract<HistoryRecord, { readonly type: 'fault' }>;
export type ActorRecord = Extract<HistoryRecord, { readonly type: 'actor' }>;

/** An actor as a turn left it. */
export interface Seen<TContext> {
  readonly turn: number;
  readonly node: string;
  readonly state: string;
  readonly context: TContext;
}

export interface TakenTurn<TContext> {
  readonly record: TurnRecord;
  readonly context: TContext;
  /** As the turn directly before it left the actor. */
  readonly before: Seen<TContext> | undefined;
  /** As it was last seen in this life; turns may lie between. */
  readonly last: Seen<TContext> | undefined;
  readonly isSpawn: boolean;
}

export interface TurnReader<TContext> {
  took(turn: TakenTurn<TContext>): void;
  /** A message left the turn. */
  said?(message: SentRecord, turn: TakenTurn<TContext>): void;
  /** The deadlines after the turn. */
  armed?(timers: TimersRecord, turn: TakenTurn<TContext>): void;
  /** All that left the turn has been seen. */
  over?(turn: TakenTurn<TContext>): void;
  /** An actor begins from nothing, or from something older than what was seen. */
  forgot?(address: string): void;
}

/** The part of a watcher that follows turns. What else hears `end` has to call it. */
export type TurnWatcher = Pick<Watcher, 'turn' | 'actor' | 'sent' | 'timers' | 'fault'> & {
  readonly end: (endedAtMs: number) => void;
};

type Memory<TContext> = Seen<TContext> & { readonly isSure: boolean };

export function followTurns<TContext>(kind: string, reader: TurnReader<TContext>): TurnWatcher {
  const known = new Map<string, Memory<TContext>>();
  const spawned = new Set<string>();
  let now: TakenTurn<TContext> | undefined;
  const close = (): void => {
    if (now === undefined) return;
    const turn = now;
    now = undefined;
    reader.over?.(turn);
  };
  const forget = (address: string): void => {
    known.delete(address);
    reader.forgot?.(address);
  };
  const turn = (record: TurnRecord): void => {
    if (now !== undefined) close();
    if (record.kind !== kind || record.context === undefined) return;
    const { address } = record;
    let memory = known.get(address);
    if (memory !== undefined && record.turn <= memory.turn) {
      if (memory.node !== record.node) {
        // Told late, or another node goes on with something older: nobody can say which.
        known.set(address, { ...memory, isSure: false });
        return;
      }
      forget(address);
      memory = undefined;
    }
    const taken = takenTurn<TContext>(record, memory, spawned.delete(address));
    const { node, state } = record;
    known.set(address, { turn: record.turn, node, state, context: taken.context, isSure: true });
    if (record.error !== undefined) return;
    now = taken;
    reader.took(taken);
  };
  const actor = (record: ActorRecord): void => {
    if (record.kind !== kind || record.change !== 'born') return;
    close();
    forget(record.address);
    spawned.add(record.address);
  };
  const fault = (record: FaultRecord): void => {
    const place = lostDisk(record);
    if (place === undefined) return;
    close();
    for (const address of [...known.keys()]) if (placeOf(address) === place) forget(address);
  };
  const { said, armed } = reader;
  return {
    turn,
    actor,
    fault,
    ...(said !== undefined && {
      sent: (record: SentRecord) => {
        if (now !== undefined && now.record.address === record.from) reader.said?.(record, now);
      },
    }),
    ...(armed !== undefined && {
      timers: (record: TimersRecord) => {
        if (now !== undefined && now.record.address === record.address) reader.armed?.(record, now);
      },
    }),
    end: close,
  };
}

function takenTurn<TContext>(
  record: TurnRecord,
  memory: Memory<TContext> | undefined,
  isSpawn: boolean,
): TakenTurn<TContext> {
  const last = memory?.isSure === true ? memory : undefined;
  const before = last?.turn === record.turn - 1 ? last : undefined;
  return { record, context: record.context as TContext, before, last, isSpawn };
}

/** An event with the fields that its type promises. */
export function eventOf<TEvent extends { readonly type: string }>(
  { event }: TurnRecord,
  type: TEvent['type'],
): TEvent | undefined {
  return event.type === type ? (event as TEvent) : undefined;
}

/** A deadline has come. */
export function isDeadline({ event }: TurnRecord): boolean {
  return event.type.startsWith('xstate.after.');
}

/** Several watchers as one; each hears what it asks for, in this order. */
export function together(...watchers: readonly Watcher[]): Watcher {
  const all: Record<string, (argument: never) => void> = {};
  for (const watcher of watchers) {
    for (const [type, hear] of Object.entries(watcher) as [string, (argument: never) => void][]) {
      const known = all[type];
      all[type] =
        known === undefined
          ? hear
          : (argument) => {
              known(argument);
              hear(argument);
            };
    }
  }
  return all as Watcher;
}
