/** /readyz while the store refuses every commit, and that it is back by itself when it does not any more. */

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startManager } from '../../programs/jobs/index.ts';
import { RuntimeError } from '../../runtime/base/errors.ts';
import type { Group, Settle } from '../../runtime/ports/store.ts';
import { memoryStore } from '../../stores/memory.ts';
import { inProcessNetwork } from '../../transports/in-process.ts';
import { StartedNode } from '../cli/started-node.ts';
import { eventually } from '../kit/eventually.ts';
import { StoreInFront } from '../store-in-front.ts';
import { close, listen, until } from './served.ts';

class RefusingStore extends StoreInFront {
  refusal: Error | undefined;

  override commit(group: Group, settle: Settle): void {
    const { refusal } = this;
    if (refusal === undefined) super.commit(group, settle);
    else queueMicrotask(() => settle(refusal));
  }
}

const JOB = { timeoutMs: 60_000, workflows: [{ id: 'w1', handler: 'nobody-has-it' }] };

describe('a manager whose store refuses every commit', () => {
  test.each([
    ['for room', new Error('ENOSPC: no space left on device'), 'commitsRefused', true],
    ['by its fence', new RuntimeError('FENCE_STALE', 'Fence 9 is known.'), 'fenceRefused', false],
  ] as const)(
    '%s says why, and is ready again when a commit succeeds',
    async (_why, refusal, reason, hosting) => {
      const store = new RefusingStore(memoryStore());
      const events: unknown[] = [];
      const note = (fields: object): void => {
        const { event } = fields as { event?: unknown };
        if (String(event).startsWith('node.')) events.push(event);
      };
      const logger = { debug() {}, info: note, warn: note, error: note };
      const transport = inProcessNetwork().join('A.manager-1');
      const manager = await startManager({ datacenter: 'A', store, transport, logger });
      const at = await listen(manager);
      const probe = () => at.body('/readyz');
      const becomes = (status: number) =>
        until(async () => {
          const answer = await probe();
          return answer.status === status ? answer.body : undefined;
        });
      expect(await probe()).toMatchObject({
        status: 200,
        body: { status: 'ready', hosting: true },
      });

      store.refusal = refusal;
      expect((await at.body('/v1/jobs', { json: { jobId: 'j1', ...JOB } })).status).toBe(503);
      expect(await becomes(503)).toMatchObject({ status: 'notReady', hosting, reason });
      expect(await at.body('/livez')).toMatchObject({ status: 200 });

      // Nobody sends it anything now: it has to find out by itself.
      store.refusal = undefined;
      expect(await becomes(200)).toMatchObject({ status: 'ready', hosting: true });
      expect(events).toEqual(['node.refusing', 'node.committing']);
      expect((await at.body('/v1/jobs', { json: { jobId: 'j2', ...JOB } })).status).toBe(201);
      await close(at.server, at.handler);
      await manager.stop();
    },
  );
});

/** A file system of a few megabytes; nothing where nobody may make one. */
function smallDisk(): { readonly path: string; remove(): void } | undefined {
  const path = mkdtempSync(join(tmpdir(), 'escapement-small-'));
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'none', path]);
  const remove = (): void => {
    if (status === 0) spawnSync('umount', ['-l', path]);
    rmSync(path, { recursive: true, force: true });
  };
  if (status === 0) return { path, remove };
  remove();
  return undefined;
}

const disk = smallDisk();

test.skipIf(disk === undefined)(
  'a process on a disk that is full, and is not any more',
  async () => {
    const { path, remove } = disk as NonNullable<typeof disk>;
    const data = join(path, 'data');
    mkdirSync(data, { mode: 0o700 });
    const args = ['manager', '--datacenter', 'A', '--data', data, '--listen', '127.0.0.1:0'];
    const node = await StartedNode.serving([
      ...args,
      '--set',
      'limits.http.requestsPerMinute=1000000',
    ]);
    try {
      const ready = () => node.ask('GET', '/readyz');
      expect((await ready()).status).toBe(200);
      const { bavail, bsize } = statfsSync(path);
      writeFileSync(join(path, 'ballast'), Buffer.alloc(bavail * bsize));
      let jobs = 0;
      const found = await until(async () => {
        jobs += 1;
        await node.ask('POST', '/v1/jobs', { jobId: `j${jobs}`, ...JOB });
        const answer = await ready();
        return answer.status === 503 ? answer.body : undefined;
      });
      expect(found).toMatchObject({ status: 'notReady', reason: 'commitsRefused' });
      rmSync(join(path, 'ballast'));
      await until(async () => ((await ready()).status === 200 ? true : undefined));
      const events = () => node.lines.map(({ event }) => event);
      const both = expect.arrayContaining(['node.refusing', 'node.committing']);
      // What it logs comes another way than what it answers.
      await eventually(() => expect(events()).toEqual(both));
    } finally {
      await node.kill();
      remove();
    }
  },
);
