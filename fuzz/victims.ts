/** Victims of a peer that lies: jobs that are to be kept, jobs that it may spoil, and the honest worker that runs them. */

import { setTimeout as sleep } from 'node:timers/promises';
import { connectClient } from '../programs/jobs/client.ts';
import { JOBS_ROLES } from '../programs/jobs/peer-roles.ts';
import { startWorker } from '../programs/jobs/worker.ts';
import { websocketTransport } from '../transports/websocket.ts';
import { OPEN, OPERATOR, SECRET } from './names.ts';
import { type ByzantineRole, HONEST, VICTIMS } from './remit.ts';
import type { Urls } from './session.ts';

const LOOK_MS = 50;
/** Nothing ends by itself while the fuzzer runs. */
const JOB = {
  timeoutMs: 86_400_000,
  stuckThresholdMs: 86_400_000,
  allStuckThresholdMs: 86_400_000,
} as const;

/** Brings in what is to be kept and what may be spoilt. Returns how the honest worker is stopped. */
export async function settleIn(urls: Urls, as: ByzantineRole): Promise<() => Promise<void>> {
  const { worker, handler } = HONEST;
  const running: string[] = [];
  const honest = await startWorker({
    worker,
    datacenter: 'A',
    cores: 8,
    handlers: {
      [handler]: ({ jobId, signal }) => {
        running.push(jobId);
        return new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(new Error('stopped')), { once: true });
        });
      },
    },
    transport: websocketTransport({
      ...{ node: worker, role: 'worker', roles: JOBS_ROLES },
      ...{ secret: SECRET, peers: [urls.manager] },
    }),
  });
  const kept = [handler, 'absent'].map((id) => ({ id, handler: id }));
  const spoilt = ['quick', 'long', 'failing'].map((id) => ({ id, handler: id }));
  for (const [to, url] of [
    ['A', urls.manager],
    ['gate', urls.gate],
  ] as const) {
    const { name, token } = OPERATOR;
    const node = `${name}~${to}`;
    const own = { node, role: 'client', roles: JOBS_ROLES, token };
    const transport = websocketTransport({ ...own, peers: [url] });
    const client = await connectClient({ client: node, to, transport });
    const targets = (datacenters: readonly string[]) =>
      to === 'gate' ? { targetDatacenters: datacenters } : {};
    await client.submit({ ...JOB, jobId: `victim-${to}`, workflows: kept, ...targets(['A']) });
    const all = targets(['A', ...(as === 'manager-of-another-place' ? OPEN.datacenters : [])]);
    await client.submit({ ...JOB, jobId: `one-${to}`, workflows: spoilt, ...all });
    await client.stop();
  }
  while (running.length < VICTIMS.length) await sleep(LOOK_MS);
  return () => honest.stop({ limitMs: 0 });
}
