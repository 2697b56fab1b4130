/** The same submission again and again, while its job comes and goes. */

import { expect, test } from 'vitest';
import { scripted, startCluster } from '../cluster.ts';

test('a submission that comes again while its job ends gives birth to nothing that stays', async () => {
  const datacenters = { A: { managers: 1, workers: 1 } };
  await using cluster = await startCluster({ datacenters, commitMs: 5 });
  const [one, other] = [await cluster.connect('A'), await cluster.connect('A')];
  await cluster.runUntil(5_000);
  const job = (jobId: string) => ({
    jobId,
    timeoutMs: 1,
    workflows: [scripted('w1', { runs: 'never' })],
  });
  const answers: Array<Promise<unknown>> = [];
  for (let number = 0; number < 40; number++) {
    // So much later that each moment of the first one's spawn and end is met by a second one.
    const jobId = `j${number}`;
    cluster.at(6_000 + number * 1_000, () => answers.push(one.submit(job(jobId))));
    cluster.at(6_000 + number * 1_001, () => answers.push(other.submit(job(jobId))));
  }
  await cluster.runUntil(90_000);
  expect(await Promise.all(answers)).toHaveLength(80);
  const { runtime } = cluster.manager('A.manager-1');
  for (const kind of ['job', 'workflow'] as const)
    expect(runtime.query({ kind, status: 'active', limit: 10 }).actors).toEqual([]);
});
