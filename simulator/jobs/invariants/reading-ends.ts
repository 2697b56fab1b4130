/**
 * Standing of each job in each datacenter, and since when, in true time.
 *
 * Guarantees: what is said here was seen in a turn. An end of which nobody told, because its node
 * died at that moment, is found in the store by `hasEnded`.
 */

import type { JobContext } from '../../../machines/jobs/job.ts';
import type { Stores } from './reading-stores.ts';
import { followTurns, type TakenTurn, type TurnWatcher } from './reading-turns.ts';

export type JobTurn = TakenTurn<JobContext>;

export interface JobStanding {
  readonly address: string;
  /** As of its last turn. */
  readonly context: JobContext;
  /** When it was first seen as ended. */
  readonly endedAtMs: number | null;
  /** When it was first seen to have reported a timeout to its gate. */
  readonly reportedAtMs: number | null;
}

export class JobEnds {
  readonly all = new Map<string, JobStanding>();

  watch(hear: (standing: JobStanding, turn: JobTurn) => void = () => {}): TurnWatcher {
    return followTurns<JobContext>('job', {
      took: (turn) => {
        const { record, context } = turn;
        const { address, atMs } = record;
        const known = this.all.get(address);
        const standing = {
          address,
          context,
          endedAtMs: context.endedAt === null ? null : (known?.endedAtMs ?? atMs),
          reportedAtMs: context.timeoutReportedAt === null ? null : (known?.reportedAtMs ?? atMs),
        };
        this.all.set(address, standing);
        hear(standing, turn);
      },
      forgot: (address) => this.all.delete(address),
    });
  }
}

/** Whether the store says that a job has ended. */
export function hasEnded(stores: Stores, address: string): boolean {
  const stored = stores.find(address);
  if (stored === undefined) return false;
  const { endedAt } = stored.snapshot.context as JobContext;
  return endedAt !== null || (stored.status ?? 'active') !== 'active';
}

/** A word of its gate, as a job takes it. */
export function isWordOfGate({ event }: JobTurn['record']): boolean {
  switch (event.type) {
    case 'ack.received':
    case 'status.requested':
    case 'timeout.declared':
      return true;
    case 'cancel.requested':
      return (event as { readonly decisionEpoch?: unknown }).decisionEpoch !== undefined;
    default:
      return false;
  }
}
