/** A worker runs an attempt once. */

import { describe } from 'vitest';
import type { WorkFact } from '../../../simulator/history/history.ts';
import { runsOnce } from '../../../simulator/jobs/invariants/runs-once.ts';
import { accepted } from './tale.ts';
import { testVerdicts } from './verdicts.ts';

const WORKER = 'A.worker-1';

const work = (change: WorkFact['change'], run = 1, workflowId = 'w1'): WorkFact => ({
  type: 'work',
  change,
  jobId: 'j1',
  workflowId,
  run,
  about: null,
});
const begun = () => accepted({}).at(0, WORKER, work('started')).at(10, WORKER, work('returned'));

describe('an attempt', () => {
  testVerdicts(runsOnce, {
    good: {
      'each begins once': () =>
        begun()
          .at(20, WORKER, work('started', 2))
          .at(30, WORKER, work('started', 1, 'w2')),
      'another worker runs it too': () => begun().at(20, 'A.worker-2', work('started')),
    },
    bad: {
      'it begins again while it runs': () =>
        accepted({}).at(0, WORKER, work('started')).at(5, WORKER, work('started')),
      'it begins again long after its end': () => begun().at(40_000, WORKER, work('started')),
    },
  });
});
