/** Histories of one job of a gate by hand, as tale.ts has them for a job of a datacenter. */

import { type GateJobContext, initialGateJob } from '../../../machines/jobs/gate-job/context.ts';
import type { DecisionEpoch } from '../../../machines/jobs/messages/fields.ts';
import { EPOCH, GATE_JOB, moment, Tale } from './tale.ts';

/** Where its turns are taken. */
export const G1 = { node: 'gate-1' };

/** A job whose only datacenter runs it, under fence 2 unless it says otherwise. */
export function gate(
  timeoutMs = 600_000,
  more: object = {},
  birth: { readonly node: string; readonly isUnseen?: boolean } = G1,
): Tale<GateJobContext> {
  const context = initialGateJob({
    jobId: 'j1',
    gateId: 'gate-1',
    gateBoot: 1,
    terms: { timeoutMs },
    targetDatacenters: ['A'],
    digest: 'd',
    rules: {
      allStuckThresholdMs: 180_000,
      silentAfterMs: 30_000,
      quorum: 'any',
      settleLimitMs: 60_000,
      gateDispatchLimitMs: 10_000,
      reportIntervalMs: 10_000,
    },
    workflowsTotal: 1,
    pages: 0,
    at: EPOCH,
  });
  return new Tale(GATE_JOB, context, 'dispatching')
    .turn(0, { type: 'escapement.spawn' }, {}, birth)
    .turn(
      50,
      {
        type: 'submission.answered',
        datacenter: 'A',
        accepted: !('run' in more),
        reason: 'run' in more ? 'unreachable' : null,
        leaderFence: 2,
      },
      known({ run: 'running', leaderFence: 2, ...more }),
      birth,
    );
}

let reports = 0;

/** What the datacenter says of its job, with figures in which all is well but for `figures`. */
export const said = (type: string, more: object = {}, figures: object = {}) => {
  reports += 1;
  return {
    type,
    datacenter: 'A',
    leaderFence: 2,
    reportSeq: reports,
    figures: {
      ...{ elapsedMs: reports, sinceProgressMs: 0, queued: false, extensionsMs: 0, holdMs: 0 },
      ...{ locallyTimedOut: false, ...figures },
    },
    ...more,
  };
};

/** What the gate knows of the datacenter from now on. */
export const known =
  (more: object) =>
  ({ datacenters }: GateJobContext): Partial<GateJobContext> => ({
    datacenters: { A: { ...datacenters['A'], ...more } as never },
  });

/** It declares a timeout. */
export const decided = (
  epoch: DecisionEpoch,
  reason = 'overall',
  atMs = 600_001,
): Partial<GateJobContext> => ({
  decision: { kind: 'timeout', reason: reason as never, detail: '', at: moment(atMs), epoch },
  declared: 1,
  gateBoot: epoch[0],
  counter: epoch[1],
});

/** It has taken its place again, under that fence. */
export const restarted = (
  fence: number,
  more: Partial<GateJobContext> = {},
): Partial<GateJobContext> => ({ fence, gateBoot: fence, ...more });
