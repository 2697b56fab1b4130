/** Clients that wait for news of a job at a gate. */

import { describe, expect, test } from 'vitest';
import { DatacenterClocks } from '../../../programs/jobs/gate/clocks.ts';
import { watchGateJob } from '../../../programs/jobs/gate/jobs-service.ts';
import { Rooms } from '../../../programs/jobs/gate/rooms.ts';
import { Permissions } from '../../../programs/jobs/jobs-service/permissions.ts';
import { SILENT_LOGGER } from '../../../runtime/base/limits.ts';
import { final, running, TO } from './running-job.ts';

const own = {
  permissions: new Permissions({ gates: [] }),
  clocks: new DatacenterClocks(),
  rooms: new Rooms(),
};

describe('a watch', () => {
  test('tells each status once and ends with the job', async () => {
    const { stage, client } = await running();
    const seen: string[] = [];
    const watching = (async () => {
      for await (const { status } of client.watch('j1')) seen.push(status);
    })();
    await stage.until(50);
    expect(seen).toEqual(['running']);
    await stage.say('A', TO, final('A', 'completed'));
    expect(seen).toEqual(['running']);
    await stage.say('B', TO, final('B', 'completed'));
    await stage.during(watching);
    expect(seen).toEqual(['running', 'completed']);
    expect(stage.now).toBeLessThan(51_000);
  });

  test('is answered after 20 s, and when the gate stops', async () => {
    const { stage } = await running();
    const ending = new AbortController();
    const { gate, clock } = stage;
    const { runtime, config, counters } = gate;
    const parts = { gate: 'gate-1', datacenters: [], logger: SILENT_LOGGER, ...own };
    const node = { ...parts, runtime, config, counters, clock, ending: ending.signal };
    const answers: unknown[] = [];
    const question = { type: 'job.watched', requestId: 'r', jobId: 'j1', seenSeq: 2 } as const;
    const watch = async () => {
      const { job } = await watchGateJob(node, question, new AbortController().signal);
      answers.push([stage.now, job?.seq]);
    };
    void watch();
    await stage.until(30);
    expect(answers).toEqual([[21_000, 2]]);
    void watch();
    ending.abort();
    void watch();
    await stage.until(60);
    expect(answers.slice(1)).toEqual([
      [30_000, 2],
      [30_000, 2],
    ]);
  });
});

test('any number of clients may watch, without a warning', async () => {
  const warnings: Error[] = [];
  const warn = (warning: Error): void => void warnings.push(warning);
  process.on('warning', warn);
  const { stage } = await running();
  const { gate, clock } = stage;
  const { runtime, config, counters } = gate;
  const ending = new AbortController();
  const parts = { gate: 'gate-1', datacenters: [], logger: SILENT_LOGGER, ...own };
  const node = { ...parts, runtime, config, counters, clock, ending: ending.signal };
  let answers = 0;
  for (let number = 1; number <= 30; number += 1)
    void watchGateJob(
      node,
      { type: 'job.watched', requestId: `r${number}`, jobId: 'j1', seenSeq: 2 },
      new AbortController().signal,
    ).then(() => {
      answers += 1;
    });
  ending.abort();
  // Node says it between turns of the event loop.
  await new Promise((resolve) => setImmediate(resolve));
  process.off('warning', warn);
  expect([answers, warnings]).toEqual([30, []]);
});

test('a watch that a crash interrupted harms nobody', async () => {
  const { stage, client } = await running();
  const waiting = client.wait('j1');
  await stage.until(2);
  await stage.restart();
  await stage.until(60);
  await stage.say('A', TO, final('A', 'completed'));
  await stage.say('B', TO, final('B', 'completed'));
  expect(await stage.during(waiting)).toMatchObject({ status: 'completed' });
});
