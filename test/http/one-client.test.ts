/** One client against all: what it takes for itself is bounded, and nobody else waits for it. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RawConnection } from './raw-connection.ts';
import { close, type Endpoint, listen, type Served, serve, TOKENS, until } from './served.ts';
import { codeIn, head } from './unheard.ts';

const limits = { requestsAtOnceMax: 2, requestsWaitingMax: 3, watchersPerClientMax: 2 };
let served: Served;
let at: Endpoint;
beforeAll(async () => {
  served = await serve({ tokens: TOKENS, limits });
  at = served.atManager;
});
afterAll(() => served.stop());

const tokenOf = (wanted: string): string =>
  `authorization: Bearer ${TOKENS.find(({ name }) => name === wanted)?.token}`;
const list = (name: string): string => head('GET /v1/jobs', tokenOf(name), 'connection: close');

async function send(text: string): Promise<RawConnection> {
  const connection = await RawConnection.open(at.port);
  connection.write(text);
  return connection;
}

/** A request that goes on until its body comes. */
const unfinished = head(
  'POST /v1/jobs',
  tokenOf('sam'),
  'content-type: application/json',
  'content-length: 2',
  'connection: close',
);
const begun = (): Promise<RawConnection> => send(unfinished);

async function waiting(): Promise<number> {
  const { text } = await asked(head('GET /metrics', tokenOf('rita'), 'connection: close'));
  return Number(/^escapement_http_requests_waiting (\d+)$/m.exec(text)?.[1]);
}

async function asked(text: string): Promise<RawConnection> {
  const connection = await send(text);
  await connection.closed;
  return connection;
}

describe('one client', () => {
  test('has a few requests carried out at once, the others one after the other, and no more', async () => {
    const busy = [await begun(), await begun()];
    const patient: RawConnection[] = [];
    for (let count = 1; count <= limits.requestsWaitingMax; count += 1) {
      patient.push(await send(list('sam')));
      await until(async () => ((await waiting()) === count ? true : undefined));
    }
    const tooMany = await (await send(list('sam'))).answer();
    expect([tooMany.status, codeIn(tooMany.body)]).toEqual([429, 'tooManyRequests']);
    expect(tooMany.head).toContain('retry-after: 1');
    // Nobody else waits for them.
    expect((await (await send(list('rita'))).answer()).status).toBe(200);
    // One that goes away is not carried out, and leaves its place.
    const [first, second, third] = patient as [RawConnection, RawConnection, RawConnection];
    second.socket.destroy();
    await until(async () => ((await waiting()) === 2 ? true : undefined));
    busy[0]?.write('{}');
    expect((await first.answer()).status).toBe(200);
    expect((await third.answer()).status).toBe(200);
    expect(busy[1]?.socket.destroyed).toBe(false);
    busy[1]?.write('{}');
    expect((await busy[1]?.answer())?.status).toBe(400);
    expect(await waiting()).toBe(0);
  });

  test('has some of its submissions read at once, and leaves room for those of others', async () => {
    const roomy = await listen(served.manager, {
      tokens: TOKENS,
      limits: { submissionsMax: 3, submissionsPerClientMax: 2 },
    });
    const slow = await Promise.all(Array.from({ length: 6 }, () => RawConnection.open(roomy.port)));
    for (const connection of slow) connection.write(unfinished);
    const [, authorization = ''] = tokenOf('olga').split(': ');
    const job = { jobId: 'other', timeoutMs: 60_000, workflows: [{ id: 'a', handler: 'none' }] };
    const answer = await roomy.body('/v1/jobs', { json: job, headers: { authorization } });
    expect(answer).toMatchObject({ status: 201 });
    for (const { socket } of slow) expect(socket.destroyed).toBe(false);
    for (const { socket } of slow) socket.destroy();
    await close(roomy.server, roomy.handler);
  });

  test('has some streams, and leaves the others to the rest', async () => {
    const job = { jobId: 'watched', timeoutMs: 60_000, workflows: [{ id: 'a', handler: 'none' }] };
    const [, authorization = ''] = tokenOf('sam').split(': ');
    await at.call('/v1/jobs', { json: job, headers: { authorization } });
    const watch = (name: string) => send(head('GET /v1/jobs/watched/events', tokenOf(name)));
    const streams = [await watch('sam'), await watch('sam')];
    for (const stream of streams)
      await until(async () => (stream.text.includes('event: job') ? true : undefined));
    const third = await (
      await send(head('GET /v1/jobs/watched/events', tokenOf('sam'), 'connection: close'))
    ).answer();
    expect([third.status, codeIn(third.body)]).toEqual([429, 'tooManyRequests']);
    const other = await watch('rita');
    await until(async () => (other.text.includes('event: job') ? true : undefined));
    for (const { socket } of [...streams, other]) socket.destroy();
  });
});
