/**
 * Metrics: what a running node counts, for tools that watch it.
 *
 * Guarantees: counting a turn is a few additions to one object, without a lookup and without reading a
 * clock. Counters begin at 0 with the runtime and only rise. Nothing here names an actor, so the size of a
 * snapshot never grows. Turns, spawns, ends and what is undelivered count once they are durable; a timer
 * when its turn is taken, so one whose commit is refused counts again. telemetry/ shows them to others.
 */

import type { ErrorCode } from './errors.ts';
import { Histogram, type HistogramSnapshot } from './histogram.ts';

/** Upper bounds in whole milliseconds, which is what clocks tell. */
const MS_BOUNDS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 60_000];
/** Usual codes of refused messages: counted from 0, so that the first one is seen as a rise. */
const USUAL_REFUSALS: readonly ErrorCode[] = [
  'ACTOR_ENDED',
  'ACTOR_EXISTS',
  'ACTOR_UNKNOWN',
  'BIRTH_FAILED',
  'EVENT_REFUSED',
  'EVENT_RESERVED',
  'EVENT_UNDECLARED',
  'KIND_UNKNOWN',
  'MAILBOX_FULL',
  'MESSAGE_EARLY',
  'NOT_ALLOWED',
  'NOT_HOSTED',
  'SENDER_REFUSED',
  'TOO_MANY_SENDERS',
];
const SIZE_BOUNDS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024];

/** Time back over which the greatest lateness is told, at least; at most twice as far. */
const RECENT_MS = 10_000;

/** The greatest of the values of the last seconds, in two numbers: of this stretch of time and of the one before. */
class RecentMax {
  #stretch = 0;
  #max = 0;
  #maxBefore = 0;

  record(value: number, at: number): void {
    this.#turnTo(at);
    if (value > this.#max) this.#max = value;
  }

  at(now: number): number {
    this.#turnTo(now);
    return Math.max(this.#max, this.#maxBefore);
  }

  #turnTo(now: number): void {
    const stretch = Math.floor(now / RECENT_MS);
    if (stretch <= this.#stretch) return;
    this.#maxBefore = stretch === this.#stretch + 1 ? this.#max : 0;
    this.#max = 0;
    this.#stretch = stretch;
  }
}

/** Numbers that the node knows of the present moment without having counted. */
export interface Gauges {
  readonly node: string;
  readonly place: string;
  readonly isHosting: boolean;
  /** The number of the lease under which the place was hosted last; 0 before the first. */
  readonly fence: number;
  /** Actors in memory. */
  readonly liveActors: number;
  /** Actors with a deadline ahead, in memory or not; ended ones wait for being forgotten. */
  readonly deadlines: number;
  /** Actors that have something to take. */
  readonly readyActors: number;
  /** Lateness of the latest deadline of the last seconds, or of one that still waits. */
  readonly latenessMs: number;
  /** Messages not yet answered, whether they could be sent or not. */
  readonly messagesUnderWay: number;
  /** Places that messages wait for and that nobody answers from, after several tries. */
  readonly placesSilent: number;
  /** Performers at work. */
  readonly performersBusy: number;
}

/** Plain data: what `runtime.metrics()` returns. */
export interface MetricsSnapshot extends Gauges {
  /** Turns, failed ones included. */
  readonly turns: number;
  readonly turnsFailed: number;
  readonly births: number;
  /** Actors that were done or were stopped. */
  readonly ends: number;
  /** Actors read from their records. */
  readonly hydrations: number;
  /** Idle actors let go to make room for others. */
  readonly passivations: number;
  /** Messages from other nodes for actors of this place, hints included. */
  readonly messagesReceived: number;
  /** Messages handed to the transport, each time they were; without hints and answers. */
  readonly messagesSent: number;
  /** Messages taken back to be sent again because nobody had answered, or not yet. */
  readonly messagesResent: number;
  /** Messages that had been taken before; spawns are not among them. */
  readonly duplicatesRefused: number;
  /** Input from peers that is no frame, no envelope, no receipt, or beyond its bounds. */
  readonly framesMalformed: number;
  /** Times a peer spoke for somebody else. */
  readonly peersOverstepped: number;
  /** Peers sent away for either. */
  readonly peersExpelled: number;
  /** Messages without guarantee left out because their receiver takes frames too slowly. */
  readonly hintsLeftOut: number;
  /** Messages that no turn took, by the code their sender was told; one that comes again counts again. */
  readonly messagesRefused: Readonly<Partial<Record<ErrorCode, number>>>;
  /** Events, messages and effects put among the undelivered ones. */
  readonly undelivered: number;
  /** Actions that failed after their turn was committed, and are not tried again. */
  readonly actionsFailed: number;
  /** Failures of promises, callbacks and observables after which another run was planned. */
  readonly childrenRetried: number;
  /** Callbacks and observables that threw while they were stopped. */
  readonly childStopsFailed: number;
  /** Failures of durable effects after which another try was planned. */
  readonly effectsRetried: number;
  /** Events answered without a turn, those that came twice included. */
  readonly questionsAsked: number;
  /** Questions that were taken, and whose askers were told that there is no answer. */
  readonly questionsRefused: number;
  /** Watches of actors of other nodes that ended with an error. */
  readonly watchesLost: number;
  /** Records that the store cannot trust; their actors are left alone. */
  readonly recordsDamaged: number;
  /** Durable effects whose performer failed for the last time. */
  readonly effectsGivenUp: number;
  readonly timersFired: number;
  readonly timerLatenessMs: HistogramSnapshot;
  /** Groups settled by the store, refused ones included. */
  readonly commits: number;
  readonly commitsRefused: number;
  /** Time from handing a group to the store until it is settled. */
  readonly commitDurationMs: HistogramSnapshot;
  readonly groupTurns: HistogramSnapshot;
  readonly groupRecords: HistogramSnapshot;
  readonly leasesAcquired: number;
  readonly leasesLost: number;
}

export class Metrics {
  turns = 0;
  turnsFailed = 0;
  births = 0;
  ends = 0;
  hydrations = 0;
  /** Actors that came into memory, and those that left it for any other reason than idleness. */
  entered = 0;
  left = 0;
  /** Messages offered to mailboxes, and those of them that came out of outboxes of this node. */
  offered = 0;
  offeredHere = 0;
  messagesReceived = 0;
  messagesSent = 0;
  messagesResent = 0;
  duplicatesRefused = 0;
  framesMalformed = 0;
  peersOverstepped = 0;
  peersExpelled = 0;
  hintsLeftOut = 0;
  undelivered = 0;
  actionsFailed = 0;
  childrenRetried = 0;
  childStopsFailed = 0;
  effectsRetried = 0;
  questionsAsked = 0;
  questionsRefused = 0;
  watchesLost = 0;
  recordsDamaged = 0;
  effectsGivenUp = 0;
  commitsRefused = 0;
  leasesAcquired = 0;
  leasesLost = 0;
  readonly #refused = new Map<ErrorCode, number>(USUAL_REFUSALS.map((code) => [code, 0]));
  readonly timerLatenessMs = new Histogram(MS_BOUNDS);
  readonly recentLateness = new RecentMax();
  readonly commitDurationMs = new Histogram(MS_BOUNDS);
  readonly groupTurns = new Histogram(SIZE_BOUNDS);
  readonly groupRecords = new Histogram(SIZE_BOUNDS);
  /** Duration of the commit and time of the turn that inspection tells of at this moment. */
  lastCommitMs = 0;
  lastTurnAt = 0;

  /** Counts a message that no turn took. */
  refuse(code: ErrorCode): void {
    this.#refused.set(code, (this.#refused.get(code) ?? 0) + 1);
  }

  /** Counts a deadline whose turn is taken now. */
  timerFired(latenessMs: number, now: number): void {
    this.timerLatenessMs.record(latenessMs);
    this.recentLateness.record(latenessMs, now);
  }

  /** Counts what a frame brings: it is handed on at once, so what mailboxes are offered meanwhile came with it. */
  receive(open: () => void): void {
    const before = this.offered - this.offeredHere;
    open();
    this.messagesReceived += this.offered - this.offeredHere - before;
  }

  snapshot(gauges: Gauges): MetricsSnapshot {
    const timerLatenessMs = this.timerLatenessMs.snapshot();
    const commitDurationMs = this.commitDurationMs.snapshot();
    return {
      ...gauges,
      turns: this.turns,
      turnsFailed: this.turnsFailed,
      births: this.births,
      ends: this.ends,
      hydrations: this.hydrations,
      passivations: this.entered - this.left - gauges.liveActors,
      messagesReceived: this.messagesReceived,
      messagesSent: this.messagesSent,
      messagesResent: this.messagesResent,
      duplicatesRefused: this.duplicatesRefused,
      framesMalformed: this.framesMalformed,
      peersOverstepped: this.peersOverstepped,
      peersExpelled: this.peersExpelled,
      hintsLeftOut: this.hintsLeftOut,
      messagesRefused: Object.fromEntries(this.#refused),
      undelivered: this.undelivered,
      actionsFailed: this.actionsFailed,
      childrenRetried: this.childrenRetried,
      childStopsFailed: this.childStopsFailed,
      effectsRetried: this.effectsRetried,
      questionsAsked: this.questionsAsked,
      questionsRefused: this.questionsRefused,
      watchesLost: this.watchesLost,
      recordsDamaged: this.recordsDamaged,
      effectsGivenUp: this.effectsGivenUp,
      timersFired: timerLatenessMs.count,
      timerLatenessMs,
      commits: commitDurationMs.count,
      commitsRefused: this.commitsRefused,
      commitDurationMs,
      groupTurns: this.groupTurns.snapshot(),
      groupRecords: this.groupRecords.snapshot(),
      leasesAcquired: this.leasesAcquired,
      leasesLost: this.leasesLost,
    };
  }
}
