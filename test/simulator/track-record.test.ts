/**
 * Runs that once broke something, see docs/track-record.md: they must stay clean.
 *
 * A seed means what it meant then only as long as plans are drawn as they were, so the plans that seeds
 * were shrunk to are kept. With its bug put back each of them breaks again: `npm run planted` plays them.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readPlan } from '../../simulator/jobs/report/plan-file.ts';
import { play } from '../../simulator/jobs/run.ts';

const RECORD = join(import.meta.dirname, 'record');

test.each(readdirSync(RECORD))('%s is clean', async (name) => {
  const plan = readPlan(readFileSync(join(RECORD, name), 'utf8'), name);
  expect((await play(plan)).judgement.violations).toEqual([]);
});
