import { describe, expect, test } from 'vitest';
import { openDatacenter } from './job-datacenter.ts';

describe('a job over its four actors', () => {
  test('runs to its end and leaves nothing behind', async () => {
    const datacenter = await openDatacenter();
    await datacenter.register('W');
    await datacenter.submit('j1', ['w1', 'w2'], { dependsOn: { 1: [0] } });
    expect(datacenter.workflow('w1')).toEqual({ state: 'DISPATCHED', run: 1, workerId: 'W' });
    expect(datacenter.workflow('w2').state).toBe('PENDING');
    expect(datacenter.reserved()).toEqual({ W: 2 });
    await datacenter.accept('w1');
    await datacenter.finish('w1');
    expect(datacenter.workflow('w2').state).toBe('DISPATCHED');
    await datacenter.accept('w2');
    await datacenter.until(20);
    await datacenter.finish('w2');
    expect(datacenter.job()).toMatchObject({ status: 'completed', reason: null, endedS: 20 });
    expect(datacenter.reserved()).toEqual({ W: 0 });
    const { operations } = datacenter.runtime.actor('worker-health/W').getSnapshot().context;
    expect(operations).toEqual({});
  });

  test('10.7.9: goes on at another worker when the first is lost, without its extension', async () => {
    const datacenter = await openDatacenter();
    await datacenter.register('W1');
    await datacenter.submit('j1', ['w1'], { timeoutMs: 120_000 });
    await datacenter.accept('w1');
    await datacenter.register('W2');
    await datacenter.until(20);
    await datacenter.heartbeat('W1', ['w1#1']);
    expect(await datacenter.ask('W1', 'j1/w1#1')).toMatchObject({
      granted: true,
      extensionMs: 30_000,
      deadlineInMs: 60_000,
    });
    for (let s = 25; s <= 110; s += 5) {
      await datacenter.until(s);
      await datacenter.heartbeat('W2', []);
    }
    expect(datacenter.workflow('w1')).toMatchObject({ state: 'RUNNING', workerId: 'W1' });
    await datacenter.until(111);
    expect(datacenter.workflow('w1')).toEqual({ state: 'DISPATCHED', run: 2, workerId: 'W2' });
    await datacenter.accept('w1');
    expect(datacenter.reserved()).toEqual({ W2: 2 });
    await datacenter.until(130);
    await datacenter.heartbeat('W2', ['w1#2']);
    await datacenter.until(140);
    expect(datacenter.job().status).toBe('running');
    await datacenter.until(141);
    expect(datacenter.job()).toMatchObject({ status: 'timedOut', reason: 'overall', endedS: 140 });
    const names = datacenter.notes.map(({ event }) => event);
    for (const name of [
      'worker.suspect',
      'worker.evicted',
      'extension.removed',
      'timeout.detected',
    ])
      expect(names.filter((noted) => noted === name)).toHaveLength(1);
  });

  test('S47: is tried again at once when its worker comes back with nothing', async () => {
    const datacenter = await openDatacenter();
    await datacenter.register('W');
    await datacenter.submit('j1', ['w1'], { timeoutMs: 600_000 });
    await datacenter.accept('w1');
    await datacenter.until(22);
    await datacenter.register('W', 2);
    expect(datacenter.workflow('w1')).toEqual({ state: 'DISPATCHED', run: 2, workerId: 'W' });
    expect(datacenter.reserved()).toEqual({ W: 2 });
    await datacenter.accept('w1');
    await datacenter.until(30);
    await datacenter.heartbeat('W', ['w1#2'], 2);
    await datacenter.finish('w1');
    expect(datacenter.job()).toMatchObject({ status: 'completed', endedS: 30 });
  });

  test('10.7.5: keeps its deadline over a restart, and gives no worker anything before it was heard', async () => {
    const datacenter = await openDatacenter();
    await datacenter.register('W');
    await datacenter.submit('j1', ['w1', 'w2', 'w3']);
    await datacenter.accept('w1');
    await datacenter.accept('w2');
    await datacenter.until(25);
    await datacenter.heartbeat('W', ['w1#1', 'w2#1']);
    await datacenter.until(30);
    await datacenter.runtime.crash();
    expect(datacenter.job()).toMatchObject({ status: 'running', leaderFence: 2 });
    await datacenter.finish('w1');
    expect(datacenter.workflow('w3').state).toBe('PENDING');
    await datacenter.heartbeat('W', ['w2#1']);
    expect(datacenter.workflow('w3').state).toBe('DISPATCHED');
    await datacenter.until(60);
    expect(datacenter.job().status).toBe('running');
    await datacenter.until(61);
    expect(datacenter.job()).toMatchObject({ status: 'timedOut', reason: 'overall', endedS: 60 });
  });

  test('S10: an extension is answered once both jobs of the worker have the credit', async () => {
    const datacenter = await openDatacenter();
    await datacenter.register('W');
    await datacenter.submit('j1', ['w1'], { timeoutMs: 60_000 });
    await datacenter.accept('w1');
    await datacenter.submit('j2', ['w1'], { timeoutMs: 80_000 });
    const taken = { type: 'dispatch.answered', workerId: 'W', bootEpoch: 1, jobId: 'j2' };
    const answer = { attemptId: 'w1#1', accepted: true, reason: null, term: 1, heartbeatSeq: 0 };
    await datacenter.send('workflow/j2/w1', { ...taken, ...answer });
    await datacenter.until(20);
    expect(await datacenter.ask('W', 'j1/w1#1')).toMatchObject({ granted: true });
    for (const jobId of ['j1', 'j2'])
      expect(datacenter.runtime.actor(`job/${jobId}`).getSnapshot().context.creditByWorker).toEqual(
        { W: 30_000 },
      );
  });

  test('is cancelled: answered when nothing can start, over when everything has stopped', async () => {
    const datacenter = await openDatacenter();
    await datacenter.register('W');
    await datacenter.submit('j1', ['w1', 'w2', 'w3']);
    await datacenter.accept('w1');
    const cancel = { type: 'cancel.requested', jobId: 'j1', datacenter: 'A' } as const;
    const asked = datacenter.runtime.actor('job/j1').ask(cancel);
    await datacenter.runtime.settle();
    expect(await asked).toEqual({ accepted: true, reason: null });
    expect(datacenter.workflow('w3').state).toBe('CANCELLED');
    expect(datacenter.job().status).toBe('cancelled');
    await datacenter.until(40);
    expect(datacenter.workflow('w1').state).toBe('CANCELLED');
    expect(datacenter.reserved()).toEqual({ W: 0 });
    expect(datacenter.runtime.actor('job/j1').getSnapshot().status).toBe('done');
  });
});
