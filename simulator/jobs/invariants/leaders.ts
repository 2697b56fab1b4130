/**
 * Every datacenter that can have a leader gets one soon, and no two of them ever share a fence.
 */

import type { JobContext } from '../../../machines/jobs/job.ts';
import type { HistoryRecord } from '../../history.ts';
import type { JobsFacts, JobsInvariant } from '../facts.ts';
import { electionMs, healedAtMs, isInCore, LATENESS_MS } from './reading-healed.ts';
import { type JobStep, jobsOf, PerActor, watching } from './reading-jobs.ts';

type LeaseRecord = Extract<HistoryRecord, { readonly type: 'lease' }>;
type NodeRecord = Extract<HistoryRecord, { readonly type: 'node' }>;

interface Leadership {
  /** Who leads; undefined while nobody does. */
  node: string | undefined;
  fence: number;
  /** Since when it is as it is, in true time. */
  sinceMs: number;
}

/** Who leads each datacenter, by the leases that were told and the nodes that died. */
class Leaderships {
  readonly #known = new Map<string, Leadership>();

  of(place: string): Leadership {
    let known = this.#known.get(place);
    if (known === undefined) {
      known = { node: undefined, fence: 0, sinceMs: Number.NEGATIVE_INFINITY };
      this.#known.set(place, known);
    }
    return known;
  }

  /** How long nobody led before, when this is a new leader. */
  lease({ place, node, change, fence, atMs }: LeaseRecord): Leadership | undefined {
    const known = this.of(place);
    const before = { ...known };
    if (change === 'acquired') Object.assign(known, { node, fence, sinceMs: atMs });
    else if (known.node === node) Object.assign(known, { node: undefined, sinceMs: atMs });
    return change === 'acquired' && before.node === undefined ? before : undefined;
  }

  node({ node, change, atMs }: NodeRecord): void {
    if (change !== 'crashed' && change !== 'stopped') return;
    for (const known of this.#known.values())
      if (known.node === node) Object.assign(known, { node: undefined, sinceMs: atMs });
  }
}

/** FO-5. Where nobody of the datacenter is up, nobody can lead. */
export const leaderIsFound: JobsInvariant = {
  id: 'FO-5',
  kind: 'liveness',
  says: 'With one manager up and the lease store in reach a datacenter has a leader within an election, and that one leads every job that has not ended within a repair period.',
  watch(facts, verdict) {
    const jobs = jobsOf(facts);
    const healed = healedAtMs(facts);
    const leaders = new Leaderships();
    const lease = (record: LeaseRecord): void => {
      const before = leaders.lease(record);
      if (before === undefined || healed === null || !isJudged(facts, record.place)) return;
      if (record.atMs < healed) return;
      verdict.exercised();
      const withoutMs = record.atMs - Math.max(before.sinceMs, healed);
      if (withoutMs > electionMs(facts))
        verdict.broken(`${record.place} had no leader for ${withoutMs} ms`, record);
    };
    const end = (endedAtMs: number): void => {
      if (healed === null) return;
      for (const place of facts.datacenters) {
        const { node, sinceMs } = leaders.of(place);
        if (!isJudged(facts, place)) continue;
        verdict.exercised();
        if (node !== undefined) continue;
        if (endedAtMs - Math.max(sinceMs, healed) > electionMs(facts))
          verdict.broken(`${place} has no leader`);
      }
      for (const { address, place, context } of jobs.jobs.standing()) {
        const { node, sinceMs, fence } = leaders.of(place);
        const ledMs = endedAtMs - Math.max(sinceMs, healed);
        const limitMs = facts.config.checkIntervalMs + electionMs(facts) + LATENESS_MS;
        if (node === undefined || context.endedAt !== null || !isJudged(facts, place)) continue;
        verdict.exercised();
        if (ledMs > limitMs && context.term !== fence)
          verdict.broken(
            `${address} is led under ${context.term} while ${node} leads under ${fence}`,
          );
      }
    };
    const watcher = watching(jobs, { job: () => {} }, { lease, end });
    const { node: keep } = watcher;
    const node = (record: NodeRecord): void => {
      keep?.(record);
      leaders.node(record);
    };
    return { ...watcher, node };
  },
};

function isJudged(facts: JobsFacts, place: string): boolean {
  return facts.datacenters.includes(place) && isInCore(facts, place);
}

/** FO-6. A job that is not accepted yet has said nothing to anybody, and no fence of its own. */
export const oneLeaderPerFence: JobsInvariant = {
  id: 'FO-6',
  kind: 'safety',
  says: 'At most one leader takes turns of a job under one leader fence.',
  watch(facts, verdict) {
    const jobs = jobsOf(facts);
    const leaders = new PerActor<JobContext, { fence: number; node: string; term: number }>(() => ({
      fence: 0,
      node: '',
      term: 0,
    }));
    const job = (step: JobStep): void => {
      const { after, record } = step;
      const known = leaders.of(step);
      if (record.state === 'assembling') return;
      const { leaderFence, term } = after;
      if (leaderFence > known.fence) {
        verdict.exercised();
        known.fence = leaderFence;
        known.node = record.node;
        known.term = term;
      } else if (known.node !== record.node || known.term !== term) {
        verdict.broken(
          `${record.address} is led by ${record.node} (${term}) under fence ${leaderFence}, as by ${known.node} (${known.term})`,
          record,
        );
      }
    };
    return watching(jobs, { job, forget: (place) => leaders.forget(place) });
  },
};
