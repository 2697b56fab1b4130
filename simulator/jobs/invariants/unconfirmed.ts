/** Presumed ends: a gate presumes that of a datacenter that it could not hear, and no other. */

import { jobAddress } from '../../../machines/jobs/addresses.ts';
import { unreadable } from '../../invariants.ts';
import type { JobsInvariant } from '../facts.ts';
import { reunitedAtMs } from './gate-convergence.ts';
import type { GateJobContext } from './reading-gate.ts';
import { roundTripMs } from './reading-healed.ts';
import { Losses } from './reading-stores.ts';
import { followTurns, together } from './reading-turns.ts';

/**
 * OUT-5. Both were up and in touch, and had been for as long as they take to find each other, when the
 * decision was made: then the datacenter was told, and its end was heard. A datacenter that has lost its
 * disk, or cannot read the record of the job, has nothing to confirm.
 */
export const presumesOnlyTheUnreachable: JobsInvariant = {
  id: 'OUT-5',
  kind: 'liveness',
  says: 'A gate publishes the end of a datacenter as unconfirmed only where one of the two was out of reach, or has lost what it knew.',
  watch: (facts, verdict) => {
    const losses = new Losses();
    const leftAlone = new Set<string>();
    const tellingMs = 2 * roundTripMs(facts);
    const gates = followTurns<GateJobContext>('gate-job', {
      took({ record, context, before }) {
        const { outcome, decision, jobId, gateId } = context;
        if (outcome === null || before === undefined || before.context.outcome !== null) return;
        for (const datacenter of Object.keys(context.datacenters)) {
          const reunited = reunitedAtMs(facts, losses, gateId, datacenter);
          if (reunited === null || record.atMs < reunited) continue;
          verdict.exercised();
          if (!outcome.unconfirmed.includes(datacenter) || decision === null) continue;
          const address = jobAddress(jobId, datacenter);
          if (losses.has(datacenter) || leftAlone.has(address)) continue;
          const decidedAtMs = record.atMs - (record.takenAt - decision.at);
          const wasInReachMs = record.atMs - Math.max(decidedAtMs, reunited);
          if (wasInReachMs > tellingMs)
            verdict.broken(
              `${record.address} presumes the end of ${datacenter}, which was in reach for ${wasInReachMs} ms`,
              record,
            );
        }
      },
    });
    return together(gates, losses, {
      log: (record) => {
        const address = unreadable(record);
        if (address !== undefined) leftAlone.add(address);
      },
    });
  },
};
