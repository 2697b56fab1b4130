/** Records of the jobs of a jobs service, as the stores had them while a question to it was open. */

import { gateJobAddress, jobAddress } from '../../../machines/jobs/addresses.ts';
import type { JobContext } from '../../../machines/jobs/job.ts';
import type { GateJobContext } from './reading-gate.ts';
import type { Span, Version, Versions } from './reading-versions.ts';
import {
  type Expected,
  jobOfDatacenter,
  jobOfGate,
  type Moments,
  statusAtGate,
} from './reading-views.ts';

export interface AskedService {
  readonly place: string;
  readonly isGate: boolean;
  /** With the fields that its type promises. */
  readonly question: { readonly type: string; readonly [field: string]: unknown };
  readonly versions: Versions;
  /** In true time, and by the clock of the node. */
  readonly span: Span;
  readonly moments: Moments;
}

/** What is wrong; undefined when nothing is. */
export type Said = string | undefined;

/** Jobs of datacenters and of gates, as far as they are judged alike. */
export interface JobThere {
  readonly version: Version;
  readonly shown: Expected;
  readonly status: string;
  readonly isCancelled: boolean;
  readonly isFinal: boolean;
}

export const addressOf = ({ isGate, place }: AskedService, jobId: string): string =>
  isGate ? gateJobAddress(jobId, place) : jobAddress(jobId, place);

/** All that a job was while the question was open; undefined stands for not being there. */
export function jobsThere(asked: AskedService, jobId: string): ReadonlyArray<JobThere | undefined> {
  const { isGate, versions, span, moments } = asked;
  return versions.of(addressOf(asked, jobId), span).map((version) => {
    if (version === undefined) return undefined;
    if (isGate) {
      const context = version.context as GateJobContext;
      const status = statusAtGate(context);
      const isCancelled = context.decision?.kind === 'cancel' || status === 'cancelled';
      const isFinal = context.outcome !== null || context.decision !== null;
      return { version, shown: jobOfGate(context, moments), status, isCancelled, isFinal };
    }
    const context = version.context as JobContext;
    const { status, endedAt } = context;
    const isFinal = endedAt !== null;
    const shown = jobOfDatacenter(context, moments);
    return { version, shown, status, isCancelled: status === 'cancelled', isFinal };
  });
}

export const isThere = <T>(one: T | undefined): one is T => one !== undefined;
