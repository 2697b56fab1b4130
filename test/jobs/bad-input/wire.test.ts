/** Input that is no message at all: reserved names, forged spawns, frames that are none. */

import { describe, expect, test } from 'vitest';
import { contextOf, transitionsOf } from '../scenarios/witness.ts';
import { HEALTH, RESULT, SELF, WORKER, WORKFLOW, withWorker } from './hand-worker.ts';

describe('what is no message at all', () => {
  test('H44, H46: is refused without harm to anybody', async () => {
    const { cluster, worker } = await withWorker();
    const names = [
      'xstate.done.actor.x',
      'xstate.after.1.job',
      'xstate.error.actor.x',
      'xstate.stop',
      'xstate.init',
    ];
    const before = contextOf(cluster, WORKFLOW);
    for (const type of names)
      for (const to of [WORKFLOW, 'job/j1@A', HEALTH, 'worker-pool/main@A', 'desk/main@A']) {
        const refusal = await worker.send(SELF, to, { type, workerId: WORKER });
        expect(refusal?.code, `${type} to ${to}`).toBe('EVENT_RESERVED');
      }
    for (const [to, input] of [
      ['job/forged@A', { jobId: 'forged' }],
      ['workflow/j1/w7@A', {}],
      ['worker-health/x@A', {}],
    ] as const)
      expect((await worker.send(SELF, to, { type: 'escapement.spawn', input }))?.code).toBe(
        'SENDER_REFUSED',
      );
    for (const to of [WORKFLOW, 'job/j1@A', HEALTH, 'desk/main@A'])
      for (const type of ['toString', '__proto__', '*', 'job.*', 'job.assembledd'])
        expect((await worker.send(SELF, to, { type }))?.code, `${type} to ${to}`).toMatch(
          /^(EVENT_UNDECLARED|SENDER_REFUSED)$/,
        );
    for (const type of [undefined, 7, null, {}])
      expect((await worker.send(SELF, WORKFLOW, { type: type as string }))?.code).toBe(
        'ENVELOPE_MALFORMED',
      );
    for (const text of ['', '{', '[]', 'null', '{"v":2}', '{"v":1,"envelopes":7}', '\u0000'])
      await worker.frame(text);
    const nested = JSON.parse(`${'['.repeat(40)}${']'.repeat(40)}`);
    const deep = await worker.send(SELF, WORKFLOW, { ...RESULT, result: nested });
    expect(deep?.code).toBe('ENVELOPE_MALFORMED');
    const forger = JSON.parse('{"type":"result.received","__proto__":{"ok":true}}');
    expect((await worker.send(SELF, WORKFLOW, forger))?.code).toBe('ENVELOPE_MALFORMED');
    expect(contextOf(cluster, WORKFLOW)).toEqual(before);
    expect(cluster.recorder.errors()).toEqual([]);
    expect(await worker.send(SELF, WORKFLOW, RESULT)).toBeUndefined();
    expect(transitionsOf(cluster).at(-1)).toMatch(/^RUNNING>COMPLETED/);
    await cluster.stop();
  });
});
