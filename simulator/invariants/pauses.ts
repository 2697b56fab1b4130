/**
 * Ends of pauses, suspensions and takeovers: a node that still hosts catches up, another stays silent.
 *
 * How the lease is looked at before anything else is proven by test/jobs/elected-lease.test.ts.
 */

import { placeOf } from '../../runtime/base/address.ts';
import type { HistoryRecord } from '../history.ts';
import type { Invariant, RunFacts, Verdict, Watcher } from './invariant.ts';
import { unreadable } from './reading-disks.ts';
import { Lines } from './reading-lines.ts';
import { partsOf } from './reading-records.ts';

type RecordOf<TType> = Extract<HistoryRecord, { readonly type: TType }>;

/** RT-7. */
export const catchesUp: Invariant = {
  id: 'RT-7',
  kind: 'liveness',
  says: 'A node that was replaced while it was paused shows nothing of its place but what it had committed before, and on a node of the healed core no deadline stays overdue.',
  watch: (facts, verdict) => new Pauses(facts, verdict).watcher(),
};

/** One decision may be late by so much; twice, because the run may end within a group. */
const LATENESS_MS = 2_000;
/** How long the cluster has had without a fault, and the place with its host, before it is judged. */
const QUIET_MS = 30_000;

/** More than any clock of a run gains or loses. */
const DRIFT_MAX = 0.02;

interface Host {
  readonly node: string;
  readonly fence: number;
  readonly sinceMs: number;
}

class Pauses {
  readonly #facts: RunFacts;
  readonly #verdict: Verdict;
  readonly #lines = new Lines();
  readonly #hosts = new Map<string, Host>();
  /** Their records are damaged: nobody can say what they wait for. */
  readonly #leftAlone = new Set<string>();
  /** Nodes that were paused in this life. */
  readonly #paused = new Set<string>();
  /** How far a node's clock was ahead of the history's at its last turn, at least. */
  readonly #ahead = new Map<string, { readonly ms: number; readonly atMs: number }>();

  constructor(facts: RunFacts, verdict: Verdict) {
    this.#facts = facts;
    this.#verdict = verdict;
  }

  watcher(): Watcher {
    return {
      node: (record) => this.#node(record),
      fault: (record) => this.#lines.fault(record),
      commit: (record) => this.#commit(record),
      turn: (record) => this.#turn(record),
      log: (record) => {
        const address = unreadable(record);
        if (address !== undefined) this.#leftAlone.add(address);
      },
      end: (endedAtMs) => this.#end(endedAtMs),
    };
  }

  #node(record: RecordOf<'node'>): void {
    this.#lines.node(record);
    const { node, change } = record;
    if (change === 'paused') this.#paused.add(node);
    if (change !== 'started') return;
    this.#paused.delete(node);
    this.#ahead.delete(node);
  }

  #commit(record: RecordOf<'commit'>): void {
    this.#lines.commit(record);
    const { change, place, node, fence, atMs } = record;
    if (change !== 'settled') return;
    const host = this.#hosts.get(place);
    if (host?.node !== node || host.fence !== fence)
      this.#hosts.set(place, { node, fence, sinceMs: atMs });
  }

  #turn(record: RecordOf<'turn'>): void {
    const placed = this.#lines.turn(record);
    const { node, place, takenAt, atMs } = record;
    this.#ahead.set(node, { ms: takenAt - atMs, atMs });
    if (placed === undefined || !this.#paused.has(node)) return;
    const host = this.#hosts.get(place);
    if (host === undefined || host.node === node) return;
    this.#verdict.exercised();
    if (placed.order !== 'unwritten') return;
    const what = `${node} was replaced by ${host.node} during a pause and shows turn ${record.turn} of ${record.address}.`;
    this.#verdict.broken(what, record);
  }

  #end(endedAtMs: number): void {
    const { healedAtMs, isFaultFree, core } = this.#facts;
    const healedAt = healedAtMs ?? (isFaultFree ? Number.NEGATIVE_INFINITY : null);
    if (healedAt === null || endedAtMs - healedAt < QUIET_MS) return;
    for (const [address, { text }] of this.#lines.entries()) {
      const host = this.#hosts.get(placeOf(address));
      if (host === undefined || !core.includes(host.node)) continue;
      if (this.#leftAlone.has(address)) continue;
      const ahead = this.#ahead.get(host.node);
      if (ahead === undefined || endedAtMs - host.sinceMs < QUIET_MS) continue;
      const driftedMs = DRIFT_MAX * (endedAtMs - ahead.atMs);
      this.#judgeDeadlines(address, text, endedAtMs + ahead.ms - driftedMs);
    }
  }

  /** `now` is at most the host's own time. */
  #judgeDeadlines(address: string, text: string, now: number): void {
    const { timers = [], status = 'active' } = partsOf(text);
    if (timers.length === 0 || status !== 'active') return;
    this.#verdict.exercised();
    for (const [id, dueAt] of timers) {
      if (now - dueAt <= LATENESS_MS) continue;
      this.#verdict.broken(`${id} of ${address} is overdue by ${now - dueAt} ms.`);
    }
  }
}
