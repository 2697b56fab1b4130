/** A few crash cycles of a run of agents; `npm run test:crash -- --agents` runs more. */

import { expect, test } from 'vitest';
import { runAgentsCycles } from './agents-cycles.ts';

const CYCLES = 3;

test(`no task and no question is lost over ${CYCLES} kills`, async () => {
  const report = await runAgentsCycles({ cycles: CYCLES, seed: 1 });
  expect(report).toMatchObject({ collisions: 0, questionsWrong: 0, processesLeft: 0 });
  expect(report.done).toBe(report.tasks);
  expect(report.hasHeld).toBe(true);
});
