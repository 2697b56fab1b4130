/**
 * Questions per second to a manager on LMDB: one job looked at, by a client and over HTTP, 64 questions in
 * flight in a closed loop.
 *
 * The client is on the in-process network: envelopes, frames and the check at the door are in its figure. Over
 * HTTP it is real requests on loopback with kept connections, with the client's share of the work in this
 * process. After the rounds the store must have made no commit.
 */

import { rmSync } from 'node:fs';
import { Agent, createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createHttpHandler } from '../http/index.ts';
import { lmdbStore } from '../index.ts';
import { connectClient } from '../programs/jobs/client.ts';
import { type Manager, startManager } from '../programs/jobs/manager.ts';
import { inProcessNetwork } from '../transports/in-process.ts';
import { closedLoop } from './closed-loop.ts';
import { type CountedStore, countedStore } from './counted-store.ts';
import { newDirectory } from './node-program.ts';
import { interleave, median, rangeOf, rounded, summary } from './rounds.ts';
import type { Field, Measured, MeasureOptions } from './suite.ts';

const READS = 10_000;
const QUICK_SHARE = 0.1;
const IN_FLIGHT = 64;
const JOB = { jobId: 'held', timeoutMs: 86_400_000, workflows: [{ id: 'w', handler: 'nobody' }] };
/** Far above what is measured. */
const UNLIMITED = 1_000_000_000;
const QUIET_MS = 500;

export const jobsReads: Field = {
  name: 'readsPerSec',
  about: 'questions about one job to a manager on disk, by a client, 64 in flight',
  better: 'higher',
  others: [
    {
      name: 'httpReadsPerSec',
      about: 'the same as GET /v1/jobs/:id over HTTP on loopback',
      better: 'higher',
    },
  ],
  measure,
};

async function measure(options: MeasureOptions): Promise<Measured> {
  const folder = newDirectory('reads');
  try {
    return await measureIn(folder, options);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureIn(folder: string, options: MeasureOptions): Promise<Measured> {
  const reads = READS * (options.isQuick ? QUICK_SHARE : 1);
  const network = inProcessNetwork();
  const store = countedStore(lmdbStore(folder));
  const manager = await startManager({
    datacenter: 'A',
    store,
    transport: network.join('A.manager-1'),
    clientRequestsPerMinute: UNLIMITED,
  });
  const client = await connectClient({ client: 'c', to: 'A', transport: network.join('c') });
  const answer = await client.submit(JOB);
  if (!answer.accepted) throw new Error(`The job was not taken: ${JSON.stringify(answer)}.`);
  const { handler, server, read } = await serve(manager);
  await quiet(store);
  const { written } = store;
  const perSecond = async (one: () => Promise<unknown>): Promise<number> => {
    const startedAt = performance.now();
    await closedLoop(reads, IN_FLIGHT, one);
    return (reads * 1_000) / (performance.now() - startedAt);
  };
  const raw = await interleave(
    [
      { name: 'client', run: () => perSecond(() => client.get(JOB.jobId)) },
      { name: 'http', run: () => perSecond(read) },
    ],
    options,
  );
  if (store.written !== written) throw new Error('Questions were written to the store.');
  await client.stop();
  await handler.close();
  server.close();
  await manager.stop();
  const [byClient, byHttp] = [raw.client ?? [], raw.http ?? []];
  const measured = (samples: readonly number[]) => ({
    value: rounded(median(samples)),
    range: rangeOf(samples),
    rounds: samples.length,
  });
  return {
    ...measured(byClient),
    others: { httpReadsPerSec: measured(byHttp) },
    details: {
      readsPerSample: reads,
      inFlight: IN_FLIGHT,
      perSecond: { client: summary(byClient), http: summary(byHttp) },
      charactersWritten: 0,
    },
    raw,
  };
}

async function serve(manager: Manager) {
  const handler = createHttpHandler({
    program: manager,
    limits: {
      requestsPerMinute: UNLIMITED,
      requestsAtOnceMax: IN_FLIGHT,
    },
  });
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const agent = new Agent({ keepAlive: true, maxSockets: IN_FLIGHT });
  const read = () =>
    new Promise<void>((resolve, reject) => {
      const request = get({ agent, port, path: `/v1/jobs/${JOB.jobId}` }, (response) => {
        response.resume().once('end', () => {
          if (response.statusCode === 200) resolve();
          else reject(new Error(`HTTP answered ${response.statusCode}.`));
        });
      });
      request.once('error', reject);
    });
  return { handler, server, read };
}

/** Resolves when what the submission began has been written: nothing for a while. */
async function quiet(store: CountedStore): Promise<void> {
  for (let before = -1; before !== store.written; ) {
    before = store.written;
    await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
  }
}
