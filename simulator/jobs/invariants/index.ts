/** All invariants, by what they hold for. */

import { engineInvariants } from '../../invariants.ts';
import type { JobsInvariant } from '../facts.ts';
import { remitIsKept } from './byzantine.ts';
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
