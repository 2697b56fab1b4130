/**
 * A pretend disk: what the nodes of one place have in common, and what survives them.
 *
 * Guarantees: every life of a node has a store of its own on it, which does what every store does, as
 * long as no fault is asked for. Groups are written one after the other, in the order in which they
 * were handed over. What a node handed over before it crashed is written whole, in part, or not at
 * all; a node that crashed neither reads nor writes any more, and hears nothing. Damaged records are
 * refused, as the store on a real disk does, and never served.
 *
 * Faults are switched on and off while it runs. What chance decides is drawn from streams of this
 * disk. Every group is reported once, when its outcome is known.
 */

import type { Clock } from '../../../runtime/ports/clock.ts';
import type { Group, Settle, Store } from '../../../runtime/ports/store.ts';
import type { MemoryStoreOptions } from '../../../stores/memory.ts';
import type { CommitFact } from '../../history.ts';
import { ClockLine } from '../clock-line.ts';
import { checkDelay, type Delay, drawDelay } from '../delay.ts';
import type { SeededRandom } from '../random.ts';
import { DiskContent, type DiskImage } from './content.ts';
import { type DiskFault, DiskFaults, type RefusalRule } from './faults.ts';
import { DiskStore } from './store.ts';

export type { DiskImage } from './content.ts';
export type { DiskFault, RefusalRule } from './faults.ts';

export interface DiskOptions {
  readonly place: string;
  readonly clock: Clock;
  readonly random: SeededRandom;
  /** How long a group takes. Without it a group takes no time and is on the disk at once. */
  readonly commit?: Delay;
  readonly memory?: MemoryStoreOptions;
  /** No group is ever split, as with a database: one that would be is lost. Default false. */
  readonly wholeGroups?: boolean;
  /** Hears of every group that takes its time, when it is handed over: inside of that call. */
  readonly onHanded?: (node: string, group: Group) => void;
  /** Hears the outcome of every group. */
  readonly onCommit?: (node: string, fact: CommitFact) => void;
}

/** Outcome of a group that is under way when its node dies, or its flush fails. */
export type GroupEnd = 'written' | 'lost' | 'split';

/** A life of a node, as its disk knows it. */
export interface DiskLife {
  readonly node: string;
  readonly life: number;
  readonly clock: Clock;
  isOver: boolean;
  /** Its store takes nothing any more. */
  failure: Error | undefined;
  /** Groups handed over that it has not heard of yet. */
  unsettled: number;
  /** Wait until there are none. */
  readonly waiting: Array<() => void>;
}

/** A group on its way to the disk. */
interface Handed {
  readonly by: DiskLife;
  readonly group: Group;
  readonly settle: Settle;
  /** Its outcome was decided when its node died. */
  isDecided: boolean;
}

export class Disk {
  readonly #options: DiskOptions;
  readonly #content: DiskContent;
  readonly #faults: DiskFaults;
  readonly #line: ClockLine;
  readonly #lives = new Map<string, DiskLife>();
  /** Not yet on the disk, in order. */
  #underWay: Handed[] = [];
  readonly #delays: SeededRandom;
  readonly #ends: SeededRandom;
  #commit: Delay | undefined;

  /** @throws {RangeError} */
  constructor(options: DiskOptions) {
    this.#options = options;
    this.#content = new DiskContent(options.memory);
    this.#faults = new DiskFaults(options.random.stream('refusals'));
    this.#line = new ClockLine(options.clock);
    this.#delays = options.random.stream('delays');
    this.#ends = options.random.stream('ends');
    this.takes(options.commit);
  }

  /** The store of one life of a node; what is settled is told on its own clock. */
  mount(node: string, life: number, clock: Clock = this.#options.clock): Store {
    const owner: DiskLife = {
      node,
      life,
      clock,
      isOver: false,
      failure: undefined,
      unsettled: 0,
      waiting: [],
    };
    this.#lives.set(nameOf(node, life), owner);
    const { wholeGroups = false } = this.#options;
    return new DiskStore(owner, this.#content, wholeGroups, (...told) =>
      this.#hand(owner, ...told),
    );
  }

  /** The node dies: each of its groups under way ends so, or as chance has it. */
  crash(node: string, life: number, end?: GroupEnd): void {
    const owner = this.#lives.get(nameOf(node, life));
    if (owner === undefined || owner.isOver) return;
    owner.isOver = true;
    this.#lives.delete(nameOf(node, life));
    let isLost = false;
    for (const handed of this.#underWay) {
      if (handed.by !== owner) continue;
      handed.isDecided = true;
      // What comes after a group that was not written whole was not written either.
      if (this.#endGroup(handed, isLost ? 'lost' : (end ?? this.#drawEnd())) !== 'written')
        isLost = true;
    }
    this.#underWay = this.#underWay.filter(({ by }) => by !== owner);
  }

  /** From now on a group takes so long; without a delay, no time. @throws {RangeError} */
  takes(commit: Delay | undefined): void {
    if (commit !== undefined) checkDelay(commit);
    this.#commit = commit;
  }

  /** Nothing is written until it is ended, and then everything that waits. */
  stall(): DiskFault {
    this.#line.hold();
    let release = (): void => this.#line.release();
    const end = (): void => {
      release();
      release = () => {};
    };
    return { hits: 0, end };
  }

  /** Refuses groups as a full disk does: nothing of them is written, and the node goes on. */
  refuse(rule: RefusalRule): DiskFault {
    return this.#faults.refuse(rule);
  }

  /**
   * The flush of the next group fails: nobody knows what of it is on the disk, and the store of that
   * life takes nothing any more.
   */
  failFlush(end?: GroupEnd): DiskFault {
    return this.#faults.fail(end ?? this.#drawEnd());
  }

  keepImage(): DiskImage {
    return this.#content.keep();
  }

  /** Everything is as it was, fences too. Meant for a place whose nodes are down. */
  restoreImage(image: DiskImage): void {
    this.#content.restore(image);
  }

  /** Everything is gone. Meant for a place whose nodes are down. */
  forget(): void {
    this.#content.forget();
  }

  /** The record is not what was written any more. False when there is none. */
  damage(address: string): boolean {
    return this.#content.damage(address);
  }

  /** The record is gone, and the disk knows that one is missing: it is opened no more. */
  lose(address: string): boolean {
    return this.#content.lose(address);
  }

  /** The record that was damaged or lost is there again. Meant for a place whose nodes are down. */
  mend(address: string): void {
    this.#content.mend(address);
  }

  /** Addresses of all records, those that are damaged too. */
  addresses(): readonly string[] {
    return this.#content.addresses();
  }

  /** The record on the disk, readable or not. */
  recordOf(address: string): string | undefined {
    return this.#content.recordOf(address);
  }

  #hand(by: DiskLife, group: Group, settle: Settle): void {
    if (by.isOver) return;
    by.unsettled += 1;
    const settled: Settle = (refusal) => {
      by.unsettled -= 1;
      settle(refusal);
      if (by.unsettled === 0) for (const go of by.waiting.splice(0)) go();
    };
    const handed: Handed = { by, group, settle: settled, isDecided: false };
    if (this.#commit === undefined && this.#line.isEmpty && !this.#line.isHeld) {
      this.#write(handed);
      return;
    }
    this.#underWay.push(handed);
    const { clock, onHanded } = this.#options;
    onHanded?.(by.node, group);
    const startsAt = Math.max(this.#line.lastAt, clock.now());
    const takesMs = this.#commit === undefined ? 0 : drawDelay(this.#commit, this.#delays);
    // A process that is stopped, or slow, hears of it when it goes on.
    const heard: Settle = (refusal) => by.clock.defer(() => settled(refusal));
    this.#line.add(startsAt + takesMs, {
      run: () => {
        if (handed.isDecided) return;
        this.#underWay.splice(this.#underWay.indexOf(handed), 1);
        this.#write({ ...handed, settle: heard });
      },
    });
  }

  /** Now, whatever is said about it later. Settles in a microtask. */
  #write(handed: Handed): void {
    const { by, group, settle } = handed;
    const refusal = by.failure ?? this.#faults.refusalOf(by.node) ?? this.#content.refusalOf(group);
    if (refusal !== undefined) {
      this.#report(handed, 'refused', [], refusal);
      queueMicrotask(() => settle(refusal));
      return;
    }
    const failure = this.#faults.failureOf();
    if (failure !== undefined) {
      by.failure = failure.error;
      this.#endGroup(handed, failure.end, failure.error);
      queueMicrotask(() => settle(failure.error));
      return;
    }
    let written: CommitFact['writes'] = [];
    this.#content.commit(group, group.writes, (stale) => {
      if (stale === undefined) this.#report(handed, 'settled', written);
      else this.#report(handed, 'refused', [], stale);
      settle(stale);
    });
    written = this.#content.written(group.writes);
  }

  /** A group that nobody hears of: it is written, or part of it, or nothing. */
  #endGroup(handed: Handed, end: GroupEnd, error?: Error): GroupEnd {
    const { group, by } = handed;
    const { wholeGroups = false } = this.#options;
    const { length } = group.writes;
    // What would have been refused was not written either.
    const refusal = error === undefined && (by.failure ?? this.#faults.refusalOf(by.node));
    const isRefused = Boolean(refusal) || this.#content.refusalOf(group) !== undefined;
    const isLost = end === 'lost' || (end === 'split' && wholeGroups);
    if (isLost || isRefused || this.#content.isStale(group)) {
      this.#report(handed, 'lost', [], error);
      return 'lost';
    }
    // At least one record is written and one is not; of a single one there is no part.
    const kept = end === 'split' && length > 1 ? 1 + this.#below(length - 1) : length;
    const writes = group.writes.slice(0, kept);
    this.#content.commit(group, writes, () => {});
    const change = kept < length ? 'split' : 'settled';
    this.#report(handed, change, this.#content.written(writes), error);
    return kept < length ? 'split' : 'written';
  }

  #drawEnd(): GroupEnd {
    return (['written', 'lost', 'split'] as const)[this.#below(3)] as GroupEnd;
  }

  #below(limit: number): number {
    return Math.floor(this.#ends.next() * limit);
  }

  #report(
    { by, group }: Handed,
    change: CommitFact['change'],
    writes: CommitFact['writes'],
    error?: Error & { readonly code?: string },
  ): void {
    const { onCommit, place } = this.#options;
    const { shard, fence } = group;
    const addresses = group.writes.map(({ address }) => address);
    const code = error?.code ?? error?.message;
    const fact = { place, shard, fence, change, writes, addresses, error: code };
    onCommit?.(by.node, { type: 'commit', ...fact });
  }
}

function nameOf(node: string, life: number): string {
  return `${node}/${life}`;
}
