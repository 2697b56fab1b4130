/**
 * Turns of one actor: it is alive, they are in time, and its deadlines come in order. The outcome of turns
 * that fail is in failures.ts.
 *
 * Proven elsewhere, because a history cannot show it: restarts by supervision (RT-1) by
 * test/engine/supervision.test.ts, equal times (RT-12) by test/engine/deadlines.test.ts and
 * test/timers.test.ts, trees of children (RT-13) by test/statechart/seeds/differential.test.ts and
 * test/statechart/hazards-children.test.ts, strangers (RT-10) by test/delivery/strangers.test.ts and
 * test/jobs/bad-input. RT-5 compares runs, RT-8 is a rate that only a load can have, and RT-11 is the
 * sealed world's: whatever reads a clock or draws a number there throws.
 */

import type { HistoryRecord } from '../history.ts';
import type { Invariant } from './invariant.ts';
import { Disks } from './reading-disks.ts';
import { type Line, Lines, type TurnRecord } from './reading-lines.ts';
import { isEnded } from './reading-records.ts';

type TimersRecord = Extract<HistoryRecord, { readonly type: 'timers' }>;

/** RT-1. The end of an actor is the end of its turns and its deadlines. */
export const nothingAfterEnd: Invariant = {
  id: 'RT-1',
  kind: 'safety',
  says: 'An actor that has ended takes no event and keeps no deadline until it is spawned again.',
  watch: (_, verdict) => {
    const ended = new Set<string>();
    // Who died before telling of an end has ended all the same.
    const lines = new Lines((line: Line, address) => {
      if (isEnded(line.text)) ended.add(address);
      else ended.delete(address);
    });
    let armed: TimersRecord | undefined;
    return {
      node: (record) => lines.node(record),
      fault: (record) => lines.fault(record),
      commit: (record) => lines.commit(record),
      timers: (record) => {
        armed = record;
      },
      turn: (record) => {
        const order = lines.turn(record)?.order;
        if (order === 'late' || !ended.has(record.address)) return;
        verdict.broken(`${record.address} took ${record.event.type} after its end.`, record);
      },
      actor: (record) => {
        const { change, address } = record;
        if (lines.isLate(record)) return;
        if (change === 'born') {
          ended.delete(address);
          return;
        }
        verdict.exercised();
        ended.add(address);
        const left = armed?.address === address ? armed.timers.length : 0;
        if (left > 0) verdict.broken(`${address} has ended with ${left} deadlines.`, record);
      },
    };
  },
};

/** RT-3. Every machine has an answer to every event that may reach it. */
export const machinesAreTotal: Invariant = {
  id: 'RT-3',
  kind: 'safety',
  says: 'No event that reaches a machine makes it throw, in whatever state it is.',
  watch: (_, verdict) => ({
    turn: (record) => {
      verdict.exercised();
      const { error, address, event, state } = record;
      if (error?.code === 'TURN_FAILED')
        verdict.broken(`${address} failed at ${event.type} in ${state}: ${error.message}`, record);
    },
  }),
};

/** RT-4. The runtime ends a turn that does not end by itself; no machine needs that. */
export const turnsAreFinite: Invariant = {
  id: 'RT-4',
  kind: 'safety',
  says: 'No turn takes more microsteps, and leaves a larger record or more messages, than one may.',
  watch: (_, verdict) => ({
    turn: (record) => {
      verdict.exercised();
      const { error, address, event } = record;
      if (error !== undefined && LIMITS_OF_TURNS.has(error.code))
        verdict.broken(`${address} broke a limit at ${event.type}: ${error.message}`, record);
    },
  }),
};

const LIMITS_OF_TURNS: ReadonlySet<string> = new Set([
  'MICROSTEPS_EXCEEDED',
  'ACTOR_TOO_LARGE',
  'OUTBOX_FULL',
]);

/**
 * RT-12. Which of a message and a deadline of the same moment goes first is a rule of each kind, and
 * histories do not name it; what holds for all kinds is judged here.
 */
export const deadlinesInOrder: Invariant = {
  id: 'RT-12',
  kind: 'safety',
  says: 'A deadline is armed once, and comes only while it is armed, not before it is due, and before any other of its actor that is due later; the time of turns never goes back on a node.',
  watch: (_, verdict) => {
    const disks = new Disks();
    const armed = new Map<string, Armed>();
    const lives = new Map<string, number>();
    const lastAt = new Map<string, number>();
    let last: TurnRecord | undefined;
    return {
      node: ({ node, change, life }) => {
        if (change !== 'started') return;
        lives.set(node, life);
        lastAt.delete(node);
      },
      actor: ({ address, change }) => {
        if (change === 'born') armed.delete(address);
      },
      turn: (record) => {
        last = record;
        const { node, address, takenAt } = record;
        const before = lastAt.get(node);
        if (before !== undefined && takenAt < before)
          verdict.broken(`${node} goes back from ${before} to ${takenAt}.`, record);
        lastAt.set(node, takenAt);
        if (!record.event.type.startsWith(AFTER)) return;
        const known = armed.get(address);
        if (known === undefined || !known.follows(record, lives.get(node))) return;
        verdict.exercised();
        const fault = known.faultOf(record);
        if (fault !== undefined) verdict.broken(fault, record);
      },
      commit: (record) => disks.commit(record),
      fault: (record) => disks.fault(record),
      timers: (record) => {
        if (last?.address !== record.address) return;
        const twice = repeatedIn(record);
        // Children of one tree may have deadlines of the same name.
        if (twice !== undefined && disks.of(record.address)?.includes('"children":') === false)
          verdict.broken(`${twice} of ${record.address} is armed twice.`, record);
        const hadFailed = armed.get(record.address)?.hasFailed === true;
        armed.set(record.address, new Armed(record, last, lives.get(record.node), hadFailed));
      },
    };
  },
};

/** A deadline that stands there more than once. */
function repeatedIn({ timers }: TimersRecord): string | undefined {
  for (let index = 1; index < timers.length; index += 1) {
    const { id } = timers[index] as TimersRecord['timers'][number];
    for (let before = 0; before < index; before += 1) if (timers[before]?.id === id) return id;
  }
  return undefined;
}

/** How the deadlines of states are called; nobody else can send such an event. */
const AFTER = 'xstate.after.';

/** The deadlines of an actor after a turn of it. */
class Armed {
  /** Its failed deadlines may be delivered again by hand. */
  readonly hasFailed: boolean;
  readonly #timers: TimersRecord['timers'];
  readonly #node: string;
  readonly #life: number | undefined;
  readonly #turn: number;

  constructor(
    { timers, node }: TimersRecord,
    { turn, error }: TurnRecord,
    life: number | undefined,
    hadFailed: boolean,
  ) {
    this.#timers = timers;
    this.#node = node;
    this.#life = life;
    this.#turn = turn;
    this.hasFailed = hadFailed || error !== undefined;
  }

  /** Whether that turn is the one right after, on the same node in the same life. */
  follows({ node, turn }: TurnRecord, life: number | undefined): boolean {
    return !this.hasFailed && this.#node === node && this.#life === life && turn === this.#turn + 1;
  }

  faultOf({ address, event, takenAt }: TurnRecord): string | undefined {
    const { type } = event;
    const first = Math.min(...this.#timers.map(({ dueAt }) => dueAt));
    const own = this.#timers.filter(({ id }) => id === type).map(({ dueAt }) => dueAt);
    if (own.length === 0) return `${address} took ${type}, which was not armed.`;
    const dueAt = Math.min(...own);
    if (dueAt > takenAt) return `${address} took ${type} ${dueAt - takenAt} ms early.`;
    if (dueAt > first) return `${address} took ${type} of ${dueAt} before the one of ${first}.`;
    return undefined;
  }
}
