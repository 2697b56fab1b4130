/**
 * Whatever deadline an actor of the jobs system loses, the repair sweep sees that it is missing, and arms
 * it for no earlier a moment; and it sees none missing that is not: in every situation on the paths of every
 * machine, on which the deadlines are those that XState armed.
 */

import { expect, test } from 'vitest';
import { type Drawing, drawnDeadlines } from '../../programs/jobs/drawn-deadlines.ts';
import { stateText } from '../../runtime/actor/actor.ts';
import { TimerTable } from '../../runtime/actor/timer-table.ts';
import { rearm } from '../../runtime/shard/rearm.ts';
import { outlineOf } from '../../runtime/statechart/xstate-outline.ts';
import type { PathPlan } from '../paths/plan.ts';
import type { Deadline, Situation } from '../paths/situation.ts';
import { shortestPaths } from '../paths/walk.ts';
import { attemptPlan } from './paths/attempt.ts';
import { gateJobPlan } from './paths/gate-job.ts';
import { jobPlan } from './paths/job.ts';
import { leadershipPlan } from './paths/leadership.ts';
import { workerPlan } from './paths/worker.ts';
import { workerHealthPlan } from './paths/worker-health.ts';
import { workerPoolPlan } from './paths/worker-pool.ts';
import { workflowPlan } from './paths/workflow.ts';

const rowOf = ({ id, dueAt, event }: Deadline) => ({
  ...{ id, dueAt, event, session: 0, target: 0 },
  ...{ to: undefined, isHint: false },
});

/** The region is drawn once for both strategies, and on a path for the other one. */
const TWIN =
  'xstate.after.graceLimit.job.active.authority.leading.localAuthority.tracking.stuckLimit.grace';

/** As many situations as have every deadline of the machines. */
const SITUATIONS_MAX = 300;

function situationsOf(plan: PathPlan): ReadonlySet<Situation> {
  const found = new Set<Situation>();
  for (const { first, steps } of shortestPaths({ ...plan, situationsMax: SITUATIONS_MAX }).paths)
    for (const situation of [first, ...steps.map(({ after }) => after)])
      if (situation.snapshot.status === 'active') found.add(situation);
  return found;
}

const nameOf = (id: string): string => id.split('.')[2] ?? '';

/** With the names of those that run from the moment in which their state was entered: they begin again. */
test.each([
  ['attempt', attemptPlan, []],
  ['gate-job', gateJobPlan, []],
  ['job', jobPlan, ['reportInterval']],
  ['leadership', leadershipPlan, []],
  ['worker', workerPlan, ['heartbeatPause', 'registerPause', 'silenceLimit']],
  ['worker-health', workerHealthPlan, ['retention']],
  ['worker-pool', workerPoolPlan, []],
  ['workflow', workflowPlan, ['answerLimit']],
] as const)('%s', (_, plan, ofALength) => {
  const drawing = plan.machine.config as Drawing;
  const again = new Set<string>();
  const seen = new Set<string>();
  for (const { snapshot, at, deadlines } of situationsOf(plan)) {
    const drawn = [...drawnDeadlines(drawing, stateText(snapshot.value))].sort();
    expect(drawn).toEqual(deadlines.map(({ id }) => id).sort());
    for (const lost of deadlines) {
      const timers = new TimerTable(deadlines.filter((one) => one !== lost).map(rowOf));
      rearm({ tree: { snapshot }, timers } as never, at);
      const [armed] = timers.rows.slice(-1);
      expect(timers.rows.map(({ id }) => id).sort()).toEqual(drawn);
      expect(armed).toMatchObject({ id: lost.id, event: { type: lost.id } });
      expect(armed?.dueAt).toBeGreaterThanOrEqual(lost.dueAt);
      if (armed?.dueAt !== lost.dueAt) again.add(nameOf(lost.id));
      seen.add(lost.id);
    }
  }
  const { timers } = outlineOf(plan.machine);
  expect(timers.filter((id) => !seen.has(id) && id !== TWIN)).toEqual([]);
  expect([...again].sort()).toEqual(ofALength);
});
