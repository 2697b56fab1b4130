/** Cores are given to as much work as they can do, and to no more. */

import type {
  SlotGranted,
  SlotRequested,
  SlotWithdrawn,
} from '../../../machines/jobs/messages/local.ts';
import type { WorkflowContext } from '../../../machines/jobs/workflow.ts';
import type { JobsFacts, JobsInvariant } from '../facts.ts';
import { Cores, type KnownWorker } from './reading-cores.ts';
import { electionMs, healedAtMs, isInCore, roundTripMs } from './reading-healed.ts';
import { Losses } from './reading-stores.ts';
import { eventOf, followTurns, together } from './reading-turns.ts';

export const grantsNoMoreThanThereIs: JobsInvariant = {
  id: 'WP-5',
  kind: 'safety',
  says: 'The cores that were granted of a registration and not given back are never more than the worker has, nor fewer than none.',
  watch: (_, verdict) => {
    const cores = new Cores({
      summed(name, { granted, coresTotal }, record) {
        verdict.exercised();
        if (granted > coresTotal || granted < 0)
          verdict.broken(`${granted} of ${coresTotal} cores of ${name} are granted`, record);
      },
    });
    return cores.watcher();
  },
};

/** A search of the worker pool that was lost is made again after as long. */
const SEARCH_LIMIT_MS = 1_000;

type Request = Omit<SlotRequested, 'type'> & {
  readonly address: string;
  readonly place: string;
  /** Since when some worker has room for it; undefined while none has. */
  fitsSinceMs: number | undefined;
};

export const leavesNoWorkerIdle: JobsInvariant = {
  id: 'WP-8',
  kind: 'liveness',
  says: 'While a worker is free and healthy, no workflow that it may run waits for longer than a message and a search take.',
  watch: (facts, verdict) => {
    const waiting = new Map<string, Request>();
    const losses = new Losses();
    const boundMs = roundTripMs(facts) + 2 * SEARCH_LIMIT_MS;
    const judge = (one: Request, atMs: number): void => {
      const since = beginOf(facts, one);
      if (since === null || losses.has(one.place) || atMs - since <= boundMs) return;
      verdict.broken(
        `${one.address} waited for ${one.cores} cores from ${since} ms to ${atMs} ms, and a worker had them`,
      );
      one.fitsSinceMs = undefined;
    };
    const look = (place: string, atMs: number): void => {
      for (const one of waiting.values()) {
        if (one.place !== place) continue;
        if (!fits(one, cores.workersOf(place))) one.fitsSinceMs = undefined;
        else one.fitsSinceMs ??= atMs;
        judge(one, atMs);
      }
    };
    const cores = new Cores({ over: (place, { atMs }) => look(place, atMs) });
    const leave = (address: string, atMs: number): void => {
      const one = waiting.get(address);
      if (one === undefined) return;
      verdict.exercised();
      judge(one, atMs);
      waiting.delete(address);
    };
    const workflows = followTurns<WorkflowContext>('workflow', {
      took({ record }) {
        const granted = eventOf<SlotGranted>(record, 'slot.granted');
        const one = waiting.get(record.address);
        const isOver = one !== undefined && !record.state.includes('PENDING');
        if (granted?.attemptId === one?.attemptId || isOver) leave(record.address, record.atMs);
      },
      said({ event, from, place, atMs }) {
        if (event.type === 'slot.requested') {
          const asked = event as SlotRequested;
          waiting.set(from, { ...asked, address: from, place, fitsSinceMs: undefined });
          look(place, atMs);
        }
        const withdrawn = event as SlotWithdrawn;
        const isGone = withdrawn.attemptId === waiting.get(from)?.attemptId;
        if (event.type === 'slot.withdrawn' && isGone) leave(from, atMs);
      },
      forgot: (address) => waiting.delete(address),
    });
    return together(cores.watcher(), workflows, losses, {
      end(endedAtMs) {
        for (const one of waiting.values()) judge(one, endedAtMs);
      },
    });
  },
};

/** From when on it counts that it waits; null: it does not. */
function beginOf(facts: JobsFacts, { place, fitsSinceMs }: Request): number | null {
  const healed = healedAtMs(facts);
  if (healed === null || fitsSinceMs === undefined || !isInCore(facts, place)) return null;
  return Math.max(fitsSinceMs, healed + electionMs(facts));
}

/** Some worker has room for it, and is not one that it avoids for another. */
function fits(one: Request, workers: ReadonlyMap<string, KnownWorker>): boolean {
  const able = [...workers].filter(
    ([, { handlers, coresTotal }]) => handlers.includes(one.handler) && coresTotal >= one.cores,
  );
  const wanted = able.filter(
    ([name, { registration }]) =>
      !one.avoidWorkers.includes(name) && !one.avoid.includes(registration),
  );
  return (wanted.length > 0 ? wanted : able).some(
    ([, { state, heard, coresTotal, granted }]) =>
      heard && state !== 'suspect' && state !== 'evicted' && coresTotal - granted >= one.cores,
  );
}
