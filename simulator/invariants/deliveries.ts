/**
 * Every message that was sent arrives, or somebody is told that it will not: over any crashes.
 *
 * What leaves an outbox without a trace is a loss, whatever the faults. What stays in one for too
 * long is a fault only once the cluster is healed, and only between nodes of its core. Messages of
 * places that keep nothing die with their node and are not judged, nor are hints.
 */

import { MESSAGE_REFUSED } from '../../runtime/actor.ts';
import { placeOf } from '../../runtime/base/address.ts';
import { DEFAULT_LIMITS } from '../../runtime/base/limits.ts';
import { SPAWN_EVENT } from '../../runtime/machine.ts';
import type { HistoryRecord } from '../history.ts';
import type { Invariant, RunFacts, Verdict, Watcher } from './invariant.ts';
import { lostDisk, unreadable } from './reading-disks.ts';
import { Lines } from './reading-lines.ts';
import { isMarked, partsOf } from './reading-records.ts';

type SentRecord = Extract<HistoryRecord, { readonly type: 'sent' }>;
type RecordOf<TType> = Extract<HistoryRecord, { readonly type: TType }>;

/** MS-1. What an outbox has accepted is taken, or known to be refused. */
export const nothingIsLost: Invariant = {
  id: 'MS-1',
  kind: 'safety',
  says: 'A message that was sent stays in the outbox of its sender until its receiver has taken it or it is logged as undelivered; within a minute of quiet between two nodes of the core it has arrived.',
  watch: (facts, verdict) => new Deliveries(facts, verdict).watcher(),
};

/** More than all pauses between tries, an election and a lane full of messages take together. */
const ARRIVAL_MS = 12 * DEFAULT_LIMITS.retryMaxMs;

class Deliveries {
  readonly #facts: RunFacts;
  readonly #verdict: Verdict;
  /** Not seen to be taken yet: by sender, then by counter. */
  readonly #open = new Map<string, Map<number, SentRecord>>();
  /** Actors with turns that nobody saw: what those took or gave up, their records may not tell any more. */
  readonly #unseen = new Set<string>();
  /** Somebody was told that a message to them will not arrive. */
  readonly #givenUp = new Set<string>();
  readonly #spawned = new Set<string>();
  /** Their records are damaged: what they had to say waits for a copy of the disk. */
  readonly #leftAlone = new Set<string>();
  /** Who hosts each place, and since when: by its last claim. */
  readonly #hosts = new Map<string, { node: string; fence: number; sinceMs: number }>();
  readonly #lines = new Lines((_, address, unshown) => {
    if (unshown > 0) this.#unseen.add(address);
  });

  constructor(facts: RunFacts, verdict: Verdict) {
    this.#facts = facts;
    this.#verdict = verdict;
  }

  watcher(): Watcher {
    return {
      node: (record) => this.#node(record),
      fault: (record) => this.#fault(record),
      commit: (record) => this.#commit(record),
      sent: (record) => this.#sent(record),
      turn: (record) => this.#turn(record),
      question: (record) => this.#taken(record),
      actor: ({ change, address }) => {
        if (change === 'born') this.#spawned.add(address);
      },
      undelivered: ({ to }) => void this.#givenUp.add(to),
      log: (record) => {
        const address = unreadable(record);
        if (address !== undefined) this.#leftAlone.add(address);
      },
      end: (endedAtMs) => this.#end(endedAtMs),
    };
  }

  #fault(record: RecordOf<'fault'>): void {
    this.#lines.fault(record);
    const place = lostDisk(record);
    if (place === undefined) return;
    for (const sender of [...this.#open.keys()])
      if (placeOf(sender) === place) this.#open.delete(sender);
  }

  #node(record: RecordOf<'node'>): void {
    this.#lines.node(record);
    const { node, change, atMs } = record;
    const place = this.#facts.places[node] ?? node;
    // A place of a single node that keeps nothing has no claims to know its host by.
    if (change === 'started' && !this.#lines.isKept(place))
      this.#hosts.set(place, { node, fence: 0, sinceMs: atMs });
  }

  #commit(record: RecordOf<'commit'>): void {
    this.#lines.commit(record);
    const { change, place, node, fence, atMs } = record;
    if (change !== 'settled') return;
    const host = this.#hosts.get(place);
    if (host?.node !== node || host.fence !== fence)
      this.#hosts.set(place, { node, fence, sinceMs: atMs });
  }

  #sent(record: SentRecord): void {
    if (!this.#lines.isKept(record.place)) return;
    const { from, counter } = record;
    let open = this.#open.get(from);
    if (open === undefined) {
      open = new Map();
      this.#open.set(from, open);
    }
    open.set(counter, record);
  }

  #turn(record: RecordOf<'turn'>): void {
    this.#lines.turn(record);
    const { event } = record;
    if (event.type === MESSAGE_REFUSED) this.#givenUp.add(String((event as { to?: unknown }).to));
    this.#taken(record);
  }

  #taken({ from, counter, address }: RecordOf<'turn' | 'question'>): void {
    if (from === undefined || counter === undefined) return;
    const open = this.#open.get(from);
    const sent = open?.get(counter);
    if (sent === undefined) return;
    if (sent.to === address) {
      open?.delete(counter);
      this.#verdict.exercised();
    }
  }

  #end(endedAtMs: number): void {
    for (const [from, open] of this.#open) {
      if (open.size === 0 || !this.#lines.isKept(placeOf(from))) continue;
      const text = this.#lines.of(from)?.text;
      const rows = text === undefined ? [] : (partsOf(text).outbox ?? []);
      const waiting = new Set(rows.map(([counter]) => counter));
      for (const [counter, sent] of open) {
        if (waiting.has(counter)) this.#judgeWait(sent, endedAtMs);
        else this.#judgeAbsence(sent);
      }
    }
  }

  #judgeAbsence({ from, to, counter, event }: SentRecord): void {
    if (this.#unseen.has(from) || this.#unseen.has(to) || this.#givenUp.has(to)) return;
    const text = this.#lines.of(to)?.text;
    if (text !== undefined && isMarked(text, from, counter)) return;
    // Nothing happens when it is there already.
    if (event.type === SPAWN_EVENT && this.#spawned.has(to)) return;
    this.#verdict.broken(
      `Message ${counter} of ${from} to ${to} (${event.type}) is gone: nobody took it or gave it up.`,
    );
  }

  #judgeWait({ from, to, counter, event, atMs }: SentRecord, endedAtMs: number): void {
    if (this.#leftAlone.has(from) || this.#leftAlone.has(to)) return;
    const quietSinceMs = Math.max(this.#healedAt(), atMs, this.#upSince(from), this.#upSince(to));
    const waitedMs = endedAtMs - quietSinceMs;
    if (waitedMs <= ARRIVAL_MS + 20 * this.#facts.deltaMs) return;
    this.#verdict.broken(
      `Message ${counter} of ${from} to ${to} (${event.type}) has waited for ${waitedMs} ms of quiet.`,
    );
  }

  #healedAt(): number {
    const { healedAtMs, isFaultFree } = this.#facts;
    return healedAtMs ?? (isFaultFree ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY);
  }

  /** Since when a node of the core hosts the actor; never is the far future. */
  #upSince(address: string): number {
    const host = this.#hosts.get(placeOf(address));
    const isInCore = host !== undefined && this.#facts.core.includes(host.node);
    return isInCore ? host.sinceMs : Number.POSITIVE_INFINITY;
  }
}
