/** Messages of a worker that make no sense: refused by name, counted, and without effect. */

import { describe, expect, test } from 'vitest';
import type { ExtensionAnswer } from '../../../machines/jobs/messages/worker.ts';
import { RuntimeError } from '../../../runtime/base/errors.ts';
import { scripted, startCluster } from '../cluster.ts';
import { contextOf, endsOf, healthOf, transitionsOf } from '../scenarios/witness.ts';
import { HEALTH, RESULT, refusedAt, SELF, WORKER, WORKFLOW, withWorker } from './hand-worker.ts';

describe('progress', () => {
  test('H49: that is none is refused at the handler, and the run goes on', async () => {
    await using cluster = await startCluster({ datacenters: { A: { workers: 1 } } });
    const workflows = [scripted('w1', { runs: 10_000, progressEvery: 'never' })];
    await cluster.begin('A', { jobId: 'j1', timeoutMs: 60_000, workflows });
    await cluster.runUntil(2_000);
    const [run] = cluster.runsOn('A.worker-1');
    const none: unknown[] = [Number.NaN, -0.1, 1.1, Number.POSITIVE_INFINITY, '0.5', null, {}];
    const items = [
      { progress: 0.5, completedItems: -1 },
      { completedItems: 1.5, totalItems: 2 },
    ];
    for (const progress of [...none, ...items]) {
      let thrown: unknown;
      try {
        run?.progress(progress as number);
      } catch (error) {
        thrown = error;
      }
      expect(thrown, JSON.stringify(progress)).toBeInstanceOf(RuntimeError);
      expect((thrown as RuntimeError).code).toBe('PROGRESS_INVALID');
    }
    await cluster.runUntil(8_000);
    expect(contextOf(cluster, WORKFLOW)).toMatchObject({ progress: 0 });
    await cluster.runUntil(20_000);
    expect(endsOf(cluster)).toMatchObject([{ status: 'completed' }]);
  });

  test('H49: that is none is refused on the wire, and is no progress', async () => {
    const { cluster, worker } = await withWorker();
    const before = contextOf(cluster, WORKFLOW);
    const jobBefore = contextOf(cluster, 'job/j1@A');
    const right = {
      type: 'progress.received',
      workerId: WORKER,
      jobId: 'j1',
      attemptId: 'w1#1',
      progress: 0.5,
      sinceProgressMs: 0,
    };
    const wrong: object[] = [
      // NaN has no other way to travel.
      ...[Number.NaN, -0.1, 1.000_000_1, '0.5', null, [0.5]].map((progress) => ({ progress })),
      { sinceProgressMs: -5_000 },
      { sinceProgressMs: 0.5 },
      { completedItems: -1 },
      { completedItems: 1.5 },
      { attemptId: 'w1' },
      { attemptId: 'w1#0' },
      { jobId: '../j1' },
      { workerId: 'A.worker-1' },
      { progres: 1 },
    ];
    for (const change of wrong) {
      const refused = refusedAt(cluster, 'SENDER_REFUSED');
      const refusal = await worker.send(SELF, WORKFLOW, { ...right, ...change });
      expect(refusal?.code, JSON.stringify(change)).toBe('SENDER_REFUSED');
      expect(refusedAt(cluster, 'SENDER_REFUSED')).toBe(refused + 1);
    }
    expect(contextOf(cluster, WORKFLOW)).toEqual(before);
    expect(contextOf(cluster, 'job/j1@A')['lastProgressAt']).toBe(jobBefore['lastProgressAt']);
    // The same in a heartbeat: none of it counts, and the worker is not heard by it.
    const { deadlineMs } = healthOf(cluster, WORKER);
    const attempt = {
      jobId: 'j1',
      attemptId: 'w1#1',
      progress: null,
      sinceProgressMs: 0,
      finished: false,
    };
    const refused = refusedAt(cluster, 'SENDER_REFUSED');
    await worker.hint(SELF, HEALTH, {
      type: 'heartbeat.received',
      workerId: WORKER,
      bootEpoch: 1,
      term: 1,
      heartbeatSeq: 1,
      coresTotal: 4,
      coresFree: 3,
      attempts: [attempt],
      page: 1,
      pages: 1,
    });
    expect(refusedAt(cluster, 'SENDER_REFUSED')).toBe(refused + 1);
    expect(healthOf(cluster, WORKER).deadlineMs).toBe(deadlineMs);
    // JSON has no other zero, and one that has gone back is none.
    expect(await worker.send(SELF, WORKFLOW, { ...right, progress: -0 })).toBeUndefined();
    expect(await worker.send(SELF, WORKFLOW, right)).toBeUndefined();
    expect(contextOf(cluster, WORKFLOW)).toMatchObject({ progress: 0.5 });
    const { lastProgressAt } = contextOf(cluster, 'job/j1@A');
    expect(await worker.send(SELF, WORKFLOW, { ...right, progress: 0.4 })).toBeUndefined();
    expect(contextOf(cluster, WORKFLOW)).toMatchObject({ progress: 0.5 });
    expect(contextOf(cluster, 'job/j1@A')['lastProgressAt']).toBe(lastProgressAt);
    await cluster.stop();
  });

  test('H49, H58: that is none is no reason for an extension', async () => {
    const { cluster, worker } = await withWorker();
    const { deadlineMs } = healthOf(cluster, WORKER);
    const { counters } = cluster.manager('A.manager-1');
    const asked = {
      type: 'extension.requested',
      workerId: WORKER,
      operationId: 'j1/w1#1',
      reason: 'long_workflow',
      activeWorkflowCount: 1,
    };
    const none = [Number.NaN, -1, 2, 'much', null, { progress: 0.5 }];
    for (const [n, currentProgress] of none.entries()) {
      const question = { ...asked, requestId: `r${n}`, currentProgress };
      expect(await worker.ask(HEALTH, question)).toMatchObject({
        granted: false,
        denialReason: 'malformed',
        extensionMs: 0,
        remainingExtensions: 5,
      });
    }
    expect(counters.value('worker_extensions_total', { result: 'malformed' })).toBe(none.length);
    const ofNobody = { ...asked, requestId: 'r8', operationId: 'j9/w1#1', currentProgress: 0.5 };
    expect(await worker.ask(HEALTH, ofNobody)).toMatchObject({ denialReason: 'unknownOperation' });
    for (const change of [{ requestId: 'a b' }, { reason: 'tea' }, { estimatedRemainingMs: -1 }]) {
      const question = { ...asked, requestId: 'r9', currentProgress: 0.5, ...change };
      expect(await worker.ask(HEALTH, question)).toMatchObject({ code: 'SENDER_REFUSED' });
    }
    expect(healthOf(cluster, WORKER)).toMatchObject({ deadlineMs, denials: 0, state: 'healthy' });
    const right = { ...asked, requestId: 'r10', currentProgress: 0.2 };
    const answer = (await worker.ask(HEALTH, right)) as ExtensionAnswer;
    expect(answer).toMatchObject({ granted: true, extensionMs: 30_000, remainingExtensions: 4 });
    // The same request again, whatever it says now, has the same answer and no second effect.
    expect(await worker.ask(HEALTH, { ...right, currentProgress: 0.9 })).toEqual(answer);
    expect(healthOf(cluster, WORKER).deadlineMs).toBe(deadlineMs + 30_000);
    expect(contextOf(cluster, 'job/j1@A')).toMatchObject({ creditByWorker: { [WORKER]: 30_000 } });
    await cluster.stop();
  });
});

describe('H58: requests for extensions', () => {
  test('in a flood are each denied with the true reason, and cost the worker nothing else', async () => {
    const { cluster, worker } = await withWorker();
    const { deadlineMs } = healthOf(cluster, WORKER);
    const asked = (n: number, more: object = {}) => ({
      to: HEALTH,
      from: SELF,
      counter: 0,
      after: 0,
      event: {
        type: 'extension.requested',
        requestId: `flood-${n}`,
        workerId: WORKER,
        operationId: 'j1/w1#1',
        reason: 'long_workflow',
        currentProgress: 0.2,
        activeWorkflowCount: 1,
        replyTo: `ask/flood-${n}@${WORKER}`,
        ...more,
      },
    });
    const envelopes = [
      ...Array.from({ length: 1_000 }, (_, n) => asked(n)),
      asked(1_000, { operationId: 'j1/w9#1', currentProgress: 0.9 }),
    ];
    await worker.frame(JSON.stringify({ v: 1, envelopes }));
    const answers = worker.heard
      .filter(({ to }) => to.startsWith('ask/flood-'))
      .map(({ event }) => event['value'] as ExtensionAnswer);
    expect(answers).toHaveLength(1_001);
    const first = answers.find(({ requestId }) => requestId === 'flood-0');
    const last = answers.find(({ requestId }) => requestId === 'flood-1000');
    const rest = answers.filter((answer) => answer !== first && answer !== last);
    expect(first).toMatchObject({ granted: true, extensionMs: 30_000, denialReason: null });
    expect(new Set(rest.map(({ denialReason }) => denialReason))).toEqual(new Set(['noProgress']));
    expect(last).toMatchObject({ granted: false, denialReason: 'unknownOperation' });
    expect(healthOf(cluster, WORKER).deadlineMs).toBe(deadlineMs + 30_000);
    expect(contextOf(cluster, 'job/j1@A')).toMatchObject({ creditByWorker: { [WORKER]: 30_000 } });
    const { length } = JSON.stringify(cluster.snapshot(HEALTH).context);
    await worker.frame(
      JSON.stringify({
        v: 1,
        envelopes: envelopes.map(({ event }, n) =>
          asked(n + 5_000, { currentProgress: event.currentProgress }),
        ),
      }),
    );
    expect(JSON.stringify(cluster.snapshot(HEALTH).context).length).toBeLessThan(length + 1_000);
    expect(await worker.send(SELF, WORKFLOW, RESULT)).toBeUndefined();
    await cluster.stop();
  });
});

describe('a result', () => {
  test('that is none is refused and ends nothing', async () => {
    const { cluster, worker } = await withWorker();
    const wrong: object[] = [
      { ok: 'yes' },
      { result: 7 },
      { result: 'x'.repeat(64 * 1024 + 1) },
      { result: 'ä'.repeat(32 * 1024 + 1) },
      { truncated: undefined },
      { error: 'bad' },
      { error: { code: 'x', detail: 'y', stack: 'z' } },
      { retryable: 1 },
      { extra: true },
    ];
    for (const change of wrong) {
      const refusal = await worker.send(SELF, WORKFLOW, { ...RESULT, ...change });
      expect(refusal?.code, JSON.stringify(change).slice(0, 80)).toBe('SENDER_REFUSED');
    }
    expect(transitionsOf(cluster)).toHaveLength(2);
    expect(await worker.send(SELF, WORKFLOW, RESULT)).toBeUndefined();
    expect(transitionsOf(cluster).at(-1)).toMatch(/^RUNNING>COMPLETED/);
    await cluster.stop();
  });

  test('of an attempt that does not count is ignored, counted, and stopped', async () => {
    const { cluster, worker } = await withWorker();
    const before = contextOf(cluster, WORKFLOW);
    expect(await worker.send(SELF, WORKFLOW, { ...RESULT, attemptId: 'w1#2' })).toBeUndefined();
    expect(contextOf(cluster, WORKFLOW)).toEqual(before);
    const { counters } = cluster.manager('A.manager-1');
    expect(counters.value('stale_attempts_total', { type: 'result.received' })).toBe(1);
    const unknown = await worker.send(SELF, 'workflow/j1/w9@A', { ...RESULT, attemptId: 'w9#1' });
    expect(unknown?.code).toBe('ACTOR_UNKNOWN');
    // Listing what nobody gave it, it is told to stop that.
    await worker.hint(SELF, HEALTH, {
      type: 'heartbeat.received',
      workerId: WORKER,
      bootEpoch: 1,
      term: 1,
      heartbeatSeq: 1,
      coresTotal: 4,
      coresFree: 3,
      attempts: ['w1#1', 'w1#2'].map((attemptId) => ({
        jobId: 'j1',
        attemptId,
        progress: 0,
        sinceProgressMs: 0,
        finished: false,
      })),
      page: 1,
      pages: 1,
    });
    expect(worker.heardBy(SELF, 'heartbeat.acked').at(-1)).toMatchObject({
      registerAgain: false,
      stopAttempts: ['j1/w1#2'],
    });
    await cluster.stop();
  });
});

describe('a worker', () => {
  test('H53: that has begun again is not spoken for by its life before', async () => {
    const { cluster, worker } = await withWorker();
    const register = (bootEpoch: number) =>
      worker.hint(`worker/${bootEpoch}@${WORKER}`, 'worker-pool/main@A', {
        type: 'worker.registered',
        workerId: WORKER,
        bootEpoch,
        coresTotal: 4,
        handlers: ['by-hand'],
        attempts: [],
        page: 1,
        pages: 1,
      });
    await register(2);
    const now = healthOf(cluster, WORKER);
    await register(1);
    expect(worker.heardBy(SELF, 'register.answered').at(-1)).toMatchObject({
      accepted: false,
      reason: 'duplicateNode',
    });
    await worker.hint(SELF, HEALTH, {
      type: 'heartbeat.received',
      workerId: WORKER,
      bootEpoch: 1,
      term: 1,
      heartbeatSeq: 7,
      coresTotal: 4,
      coresFree: 4,
      attempts: [],
      page: 1,
      pages: 1,
    });
    expect(worker.heardBy(SELF, 'heartbeat.acked').at(-1)).toMatchObject({ registerAgain: true });
    expect(healthOf(cluster, WORKER)).toMatchObject({ bootEpoch: 2, deadlineMs: now.deadlineMs });
    await cluster.stop();
  });
});
