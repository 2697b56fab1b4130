import { describe, expect, test } from 'vitest';
import { jobTerms } from '../../machines/jobs/messages/client.ts';
import { newJob } from '../../simulator/jobs/submission.ts';
import { drawPlan } from '../../simulator/jobs/swarm/draw-plan.ts';

describe('a planned job as it is submitted', () => {
  const planned = Array.from({ length: 40 }, (_, index) => drawPlan(index + 1).steps)
    .flat()
    .flatMap((step) => (step.do === 'submit' ? [step.job] : []));

  test('has no terms that a jobs service does not know', () => {
    for (const job of planned) {
      if (job.malformed !== undefined) continue;
      const { jobId: _, workflows: __, ...terms } = newJob(job);
      // A value may be meant to be over its limit; a name never is.
      const issues = jobTerms.safeParse(terms).error?.issues ?? [];
      expect(issues.filter(({ code }) => code === 'unrecognized_keys')).toEqual([]);
    }
  });

  test('names the datacenters that it is meant for', () => {
    const meant = planned.filter(({ datacenters }) => datacenters !== undefined);
    expect(meant.length).toBeGreaterThan(0);
    for (const job of meant) expect(newJob(job).targetDatacenters).toEqual(job.datacenters);
  });
});
