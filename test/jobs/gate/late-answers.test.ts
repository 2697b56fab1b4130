/** A datacenter whose answer to a submission comes after the end of the job: nothing is left over of that. */

import { expect, test } from 'vitest';
import { final, TO } from './running-job.ts';
import { GateStage } from './stand-ins.ts';

test('a job that is over before its datacenter has answered leaves no dead letter', async () => {
  const gate = new GateStage();
  // It has taken the job, and what it answers gets lost.
  const datacenter = await gate.open('A', {});
  await gate.start(['A']);
  const client = await gate.connect();
  const job = { jobId: 'j1', timeoutMs: 600_000, workflows: [{ id: 'w1', handler: 'h' }] };
  await gate.during(client.submit(job));
  await gate.until(0.5);
  await gate.say('A', TO, final('A', 'completed'));
  datacenter.script = { submit: { accepted: true, created: false } };
  await gate.until(600);
  expect(await gate.during(client.wait('j1'))).toMatchObject({ status: 'completed' });
  expect(gate.gate.runtime.undelivered()).toEqual([]);
  expect(gate.gate.runtime.counts()).toMatchObject({ performers: 0 });
});
