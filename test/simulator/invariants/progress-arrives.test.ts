/** Progress that handlers report reaches their jobs. */

import { describe } from 'vitest';
import type { WorkFact } from '../../../simulator/history/history.ts';
import { progressArrives } from '../../../simulator/jobs/invariants/progress-arrives.ts';
import { turn } from './builders.ts';
import { accepted, ended, JOBS_FACTS, moment, TIMER } from './tale.ts';
import { testVerdicts } from './verdicts.ts';

const WORKER = 'A.worker-1';
const facts = {
  places: { ...JOBS_FACTS.places, [WORKER]: WORKER },
  core: [...JOBS_FACTS.core, WORKER],
};

const work = (change: WorkFact['change'], about: unknown = null, run = 1): WorkFact => ({
  type: 'work',
  change,
  jobId: 'j1',
  workflowId: 'w1',
  run,
  about,
});
const items = (completedItems: number) => ({ progress: 0.1, completedItems });

/** A run that begins at zero and reports at 10 s. */
const reported = (about: unknown = items(5)) =>
  accepted({}).at(0, WORKER, work('started')).at(10_000, WORKER, work('progressed', about));
const heard = (sinceProgressMs = 0) => ({
  type: 'workflow.progressed',
  workflowId: 'w1',
  sinceProgressMs,
});
const good = (told: () => ReturnType<typeof reported>) => ({ told, facts, endedAtMs: 60_000 });

describe('progress', () => {
  testVerdicts(progressArrives, {
    good: {
      'the job hears of it at once': good(() => reported().turn(10_050, heard())),
      'the job hears of it after the throttle': good(() => reported().turn(11_100, heard(1_050))),
      'of two at once the job hears of the last': good(() =>
        reported()
          .at(10_500, WORKER, work('progressed', items(6)))
          .turn(11_100, heard(500)),
      ),
      'the run ends before it could be told': good(() =>
        reported().at(10_400, WORKER, work('returned', 'done')),
      ),
      'the job ends before it could be told': good(() =>
        reported().turn(10_400, TIMER, ended(moment(10_400), 'timedOut', 'overall')),
      ),
      'the workflow is cancelled before it could be told': good(() =>
        reported().add(turn('workflow/j1/w1@A', { state: '{"CANCELLING":"confirming"}' })),
      ),
      'a report that says no more is none': good(() =>
        reported()
          .turn(10_050, heard())
          .at(20_000, WORKER, work('progressed', items(5)), work('progressed', items(4))),
      ),
    },
    bad: {
      'the job never hears of it': good(() => reported()),
      'the job hears of a share that nobody tells': good(() => reported({ progress: 0.3 })),
      'the job hears of it with the next heartbeat': good(() =>
        reported().turn(15_000, heard(5_000)),
      ),
      'the job hears of an earlier one': good(() => reported().turn(10_900, heard(5_000))),
      'a second run gets less far than the first one did': good(() =>
        reported()
          .turn(10_050, heard())
          .at(20_000, WORKER, work('threw', 'no'), work('started', null, 2))
          .at(30_000, WORKER, work('progressed', items(2), 2)),
      ),
      'after the faults are over': {
        told: () =>
          accepted({})
            .at(0, WORKER, work('started'))
            .at(200_000, WORKER, work('progressed', items(5))),
        facts: { ...facts, isFaultFree: false, healedAtMs: 100_000 },
        endedAtMs: 300_000,
      },
    },
  });
});
