/** A worker runs an attempt once, judged by what its handlers do and not by what it remembers. */

import type { HistoryRecord } from '../../history.ts';
import { isWritten } from '../../invariants.ts';
import type { JobsInvariant } from '../facts.ts';
import { Losses } from './reading-stores.ts';
import { together } from './reading-turns.ts';

type WorkRecord = Extract<HistoryRecord, { readonly type: 'work' }>;

interface Begun {
  readonly workflow: string;
  /** When its handler was over; undefined while it is at work. */
  endedAtMs: number | undefined;
}

/** No connection keeps a message under way for as long: what comes later is not asked of a worker. */
const KNOWN_MS = 50_000;

export const runsOnce: JobsInvariant = {
  id: 'WL-3',
  kind: 'safety',
  says: 'As long as a worker lives, its handler begins at most once for an attempt, however often the attempt is dispatched, and until a minute after its end; a datacenter that has lost its records may name another attempt so.',
  watch: (_, verdict) => {
    /** Attempts that have begun in the life of each worker. */
    const begun = new Map<string, Map<string, Begun>>();
    const losses = new Losses();
    return together(losses, {
      node({ node, change }) {
        if (change === 'started') begun.delete(node);
      },
      commit(record) {
        if (!isWritten(record)) return;
        // A job that was forgotten may be submitted again.
        const gone = record.writes.filter((write) => write.record === null);
        for (const { address } of gone)
          for (const attempts of begun.values()) forget(attempts, address);
      },
      work(record) {
        const { node, change, run, atMs } = record;
        const workflow = workflowOf(record);
        const attempt = `${workflow}#${run}`;
        const attempts = begun.get(node) ?? new Map<string, Begun>();
        begun.set(node, attempts);
        const known = attempts.get(attempt);
        if (known !== undefined && (change === 'returned' || change === 'threw'))
          known.endedAtMs = atMs;
        if (change !== 'started' || losses.has(placeOf(node))) return;
        verdict.exercised();
        if (known !== undefined && atMs - (known.endedAtMs ?? atMs) < KNOWN_MS)
          verdict.broken(`${node} runs ${attempt} again`, record);
        attempts.set(attempt, { workflow, endedAtMs: undefined });
      },
    });
  },
};

function forget(attempts: Map<string, Begun>, address: string): void {
  for (const [attempt, { workflow }] of attempts)
    if (workflow === address) attempts.delete(attempt);
}

/** A worker is called `A.worker-1`. */
const placeOf = (node: string): string => node.slice(0, node.indexOf('.'));

const workflowOf = ({ jobId, workflowId, node }: WorkRecord): string =>
  `workflow/${jobId}/${workflowId}@${placeOf(node)}`;
