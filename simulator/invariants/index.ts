/** All invariants, by what they hold for. */

import type { JobsInvariant } from '../jobs/facts.ts';
import { remitIsKept } from './byzantine.ts';
import { engineInvariants } from './engine.ts';
import { jobAgreementInvariants } from './jobs-agreement.ts';
import { jobCoreInvariants } from './jobs-core.ts';
import { takesIdsOnce } from './repeated-calls.ts';
import { workerInvariants } from './workers.ts';

/** What every run of the jobs system must keep. */
export const jobsInvariants: readonly JobsInvariant[] = [
  ...engineInvariants,
  ...jobCoreInvariants,
  ...jobAgreementInvariants,
  ...workerInvariants,
  remitIsKept,
  takesIdsOnce,
];
