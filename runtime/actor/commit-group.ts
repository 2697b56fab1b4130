/**
 * Commit groups: the records of many turns written together, and what waits for them.
 *
 * One group is with the store while the next one is filled. Nothing of a turn leaves
 * the node before its group is settled; groups are released in order. When the store
 * refuses a group, it and the one being filled are dropped whole: the caller forgets
 * the actors they touched, which then start again from their stored records.
 */

import { inOnePiece } from '../base/json-cache.ts';
import { knob } from '../base/knob.ts';
import type { Metrics } from '../base/metrics.ts';
import type { Clock } from '../ports/clock.ts';
import type { ActorWrite, IndexEntry, Store } from '../ports/store.ts';
import { type ChangedRows, join, NO_TABLES } from '../statechart.ts';
import type { Actor } from './actor.ts';
import { refuseItem } from './mailbox.ts';
import type { Turn } from './turn-result.ts';

type Writing = { -readonly [field in keyof ActorWrite]: ActorWrite[field] } & {
  history: string[];
  rows?: ChangedRows;
  undelivered?: Array<readonly [string, string]>;
};

export class Group {
  readonly actors: Actor[] = [];
  readonly writes: Writing[] = [];
  readonly turns: Turn[] = [];
  /** Actors that know already what of theirs was taken in this group. */
  readonly senders: Actor[] = [];
  readonly dropUndelivered: Array<{
    readonly id: string;
    readonly settle: (error?: Error) => void;
  }> = [];

  /** Called when everything that was added before is durable; never when it is refused. */
  readonly whenDurable: Array<() => void> = [];

  /** Rows for the undelivered messages among the writes. */
  undelivered = 0;

  /** Adds what one turn wrote; of several turns of an actor the last record counts. */
  add(
    actor: Actor,
    entry: IndexEntry | null,
    row: string | undefined,
    undelivered?: readonly [id: string, row: string],
    changes?: ChangedRows,
  ): void {
    let writing = actor.group === this ? (this.writes[actor.groupIndex] as Writing) : undefined;
    const record = entry === null ? null : actor.text;
    if (writing === undefined) {
      writing = { address: actor.address, record, entry, history: [] };
      actor.group = this;
      actor.groupIndex = this.writes.length;
      this.actors.push(actor);
      this.writes.push(writing);
    } else {
      writing.record = record;
      writing.entry = entry;
    }
    if (row !== undefined) writing.history.push(row);
    if (record === null) {
      actor.tables = NO_TABLES;
      writing.rows = new Map();
      writing.isAnew = true;
    } else if (changes !== undefined) {
      if (writing.rows === undefined) writing.rows = changes;
      else join(writing.rows, changes);
    }
    if (undelivered === undefined) return;
    this.undelivered += 1;
    writing.undelivered ??= [];
    writing.undelivered.push(undelivered);
  }

  /** True when the group is worth committing for its fence alone. */
  isClaim = false;

  /** Tells everybody who waits for this group that nothing of it happened. */
  refuse(error: Error): void {
    for (const { item } of this.turns) refuseItem(item, error);
    for (const { settle } of this.dropUndelivered) settle(error);
  }

  get isEmpty(): boolean {
    return (
      !this.isClaim &&
      this.writes.length === 0 &&
      this.turns.length === 0 &&
      this.whenDurable.length === 0 &&
      this.dropUndelivered.length === 0
    );
  }
}

const LARGE_GROUP_TURNS = knob('largeGroupTurns', 512);

export interface CommitListener {
  /** The group is durable. */
  released(group: Group): void;
  /** Nothing of these groups was written. */
  refused(groups: readonly Group[], refusal: Error): void;
}

export class Commits {
  /** The group that turns are added to. */
  filling = new Group();
  fence = 0;
  readonly #store: Store;
  readonly #shard: string;
  readonly #listener: CommitListener;
  readonly #clock: Clock;
  readonly #metrics: Metrics;
  #underWay: Group | undefined;
  /** Time when the group under way was handed to the store. */
  #handedAt = 0;

  constructor(
    store: Store,
    shard: string,
    listener: CommitListener,
    clock: Clock,
    metrics: Metrics,
  ) {
    this.#store = store;
    this.#shard = shard;
    this.#listener = listener;
    this.#clock = clock;
    this.#metrics = metrics;
  }

  /** True when nothing is with the store and nothing waits for it. */
  get isQuiet(): boolean {
    return this.#underWay === undefined && this.filling.isEmpty;
  }

  /** Time when the first turn that is not durable yet was taken; infinite when all are. */
  get oldestAt(): number {
    const turn = this.#underWay?.turns[0] ?? this.filling.turns[0];
    return turn?.at ?? Number.POSITIVE_INFINITY;
  }

  /** Turns that are not durable yet, in their order. */
  *uncommitted(): Iterable<Turn> {
    yield* this.#underWay?.turns ?? [];
    yield* this.filling.turns;
  }

  /**
   * True if one more turn fits. A large group is handed over at once when the store is free, so that it
   * writes while turns are taken.
   */
  hasRoom(groupTurnsMax: number): boolean {
    const { length } = this.filling.turns;
    if (length < LARGE_GROUP_TURNS.value && length < groupTurnsMax) return true;
    this.flush();
    return this.filling.turns.length < groupTurnsMax;
  }

  /** Raises the shard's fence at the store, with or without anything to write. */
  claim(): void {
    this.filling.isClaim = true;
    this.flush();
  }

  /** Hands the filled group to the store, unless one is there already. */
  flush(): void {
    if (this.#underWay !== undefined || this.filling.isEmpty) return;
    const group = this.filling;
    this.filling = new Group();
    this.#underWay = group;
    this.#handedAt = this.#clock.now();
    const { writes } = group;
    // Of several turns of an actor only the last record is worth putting together.
    for (const { record } of writes) if (record !== null) inOnePiece(record);
    const dropUndelivered = group.dropUndelivered.map(({ id }) => id);
    this.#store.commit(
      { shard: this.#shard, fence: this.fence, writes, dropUndelivered },
      (refusal) => {
        if (this.#underWay === group) this.#settled(group, refusal);
      },
    );
  }

  /** Forgets every group that is not settled: nothing of them will be released. */
  drop(): readonly Group[] {
    const dropped = this.#underWay === undefined ? [this.filling] : [this.#underWay, this.filling];
    this.#underWay = undefined;
    this.filling = new Group();
    return dropped;
  }

  #settled(group: Group, refusal: Error | undefined): void {
    this.#count(group, refusal !== undefined);
    if (refusal !== undefined) {
      this.#listener.refused(this.drop(), refusal);
      return;
    }
    this.#underWay = undefined;
    for (const actor of group.actors) if (actor.group === group) actor.group = undefined;
    // A large group is worth handing over at once; a small one may still grow while this one is released.
    if (this.filling.turns.length >= LARGE_GROUP_TURNS.value) this.flush();
    this.#listener.released(group);
  }

  #count(group: Group, isRefused: boolean): void {
    const metrics = this.#metrics;
    metrics.lastCommitMs = this.#clock.now() - this.#handedAt;
    metrics.commitDurationMs.record(metrics.lastCommitMs);
    metrics.groupTurns.record(group.turns.length);
    metrics.groupRecords.record(group.writes.length);
    if (isRefused) metrics.commitsRefused += 1;
    else metrics.undelivered += group.undelivered;
  }
}
