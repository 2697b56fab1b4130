/** Streams of server-sent events. */

import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startManager } from '../../programs/jobs/index.ts';
import { RawConnection } from './raw-connection.ts';
import { close, type Endpoint, listen, type Served, serve, until } from './served.ts';

let served: Served;
beforeAll(async () => {
  served = await serve();
});
afterAll(() => served.stop());

interface Event {
  readonly event: string;
  readonly id: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests say what they expect.
  readonly data: any;
}

/** The events of a stream, as they come; comments are counted. */
class Stream {
  readonly events: Event[] = [];
  comments = 0;
  readonly ended: Promise<void>;
  readonly #ending = new AbortController();

  private constructor(response: Response, ending: AbortController) {
    this.#ending = ending;
    this.ended = this.#read(response).catch(() => {});
  }

  static async open(at: Endpoint, jobId: string, headers = {}): Promise<Stream> {
    const ending = new AbortController();
    const { signal } = ending;
    const response = await at.call(`/v1/jobs/${jobId}/events`, { headers, signal });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    return new Stream(response, ending);
  }

  leave(): void {
    this.#ending.abort();
  }

  async #read(response: Response): Promise<void> {
    let text = '';
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      text += new TextDecoder().decode(chunk);
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) this.#take(block);
    }
  }

  #take(block: string): void {
    if (block.startsWith(':')) {
      this.comments += 1;
      return;
    }
    const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1] ?? '';
    this.events.push({ event: field('event'), id: field('id'), data: JSON.parse(field('data')) });
  }
}

const begin = (at: Endpoint, jobId: string, handler: string) =>
  at.body('/v1/jobs', { json: { jobId, timeoutMs: 60_000, workflows: [{ id: 'w1', handler }] } });
const running = (at: Endpoint, jobId: string) =>
  until(async () =>
    (await at.body(`/v1/jobs/${jobId}`)).body.status === 'running' ? true : undefined,
  );

describe.each([
  ['a gate', () => served.atGate],
  ['a datacenter', () => served.atManager],
])('%s', (name, at: () => Endpoint) => {
  const own = (id: string) => `${name.replaceAll(' ', '-')}.${id}`;

  test('tells each change of a job once, and ends with the job', async () => {
    await begin(at(), own('j1'), 'wait');
    await running(at(), own('j1'));
    const stream = await Stream.open(at(), own('j1'));
    await until(() => stream.events[0]);
    await at().body(`/v1/jobs/${own('j1')}/cancel`, { method: 'POST' });
    await stream.ended;
    const statuses = stream.events.map(({ data }) => data.status);
    expect(statuses).toEqual(['running', 'cancelled']);
    for (const { event, id, data } of stream.events) {
      expect(event).toBe('job');
      expect(id).toBe(String(data.seq));
      expect(data).not.toHaveProperty('workflows');
    }
  });

  test('goes on after the last event that a client has seen', async () => {
    await begin(at(), own('j2'), 'wait');
    await running(at(), own('j2'));
    const first = await Stream.open(at(), own('j2'));
    const seen = await until(() => first.events[0]);
    first.leave();
    await first.ended;
    const second = await Stream.open(at(), own('j2'), { 'last-event-id': seen.id });
    await at().body(`/v1/jobs/${own('j2')}/cancel`, { method: 'POST' });
    await second.ended;
    expect(second.events.map(({ data }) => data.status)).toEqual(['cancelled']);
    const [last] = second.events;
    const headers = { 'last-event-id': last?.id ?? '' };
    const after = await at().call(`/v1/jobs/${own('j2')}/events`, { headers });
    expect(after.status).toBe(204);
  });

  test('is none of a job that nobody knows', async () => {
    expect(await at().body('/v1/jobs/nobody/events')).toMatchObject({
      status: 404,
      body: { error: { code: 'notFound' } },
    });
    const headers = { 'last-event-id': 'yesterday' };
    expect(await at().body('/v1/jobs/nobody/events', { headers })).toMatchObject({
      status: 400,
      body: { error: { field: 'Last-Event-ID' } },
    });
  });
});

describe('a server', () => {
  test('says that it is there, has a place for this many, and gets it back', async () => {
    const manager = await startManager({ datacenter: 'A' });
    const at = await listen(manager, { limits: { heartbeatMs: 20, watchersMax: 2 } });
    await begin(at, 'j1', 'nobody-has-it');
    const streams = [await Stream.open(at, 'j1'), await Stream.open(at, 'j1')];
    expect(await at.body('/v1/jobs/j1/events')).toMatchObject({
      status: 503,
      body: { error: { code: 'overloaded' } },
    });
    await until(() => ((streams[0]?.comments ?? 0) > 1 ? true : undefined));
    streams[0]?.leave();
    const third = await until(async () => {
      const answer = await at.call('/v1/jobs/j1/events');
      await answer.body?.cancel();
      return answer.status === 200 ? answer : undefined;
    });
    expect(third.status).toBe(200);
    await close(at.server, at.handler);
    await streams[1]?.ended;
    await manager.stop();
  });

  test('cuts off who does not read, and nobody else', async () => {
    const manager = await startManager({ datacenter: 'A' });
    const at = await listen(manager, { limits: { heartbeatMs: 5, watcherBytesMax: 64 * 1024 } });
    const responses: ServerResponse[] = [];
    at.server.on('request', (_request, response) => responses.push(response));
    await begin(at, 'j1', 'nobody-has-it');
    const reader = await Stream.open(at, 'j1');
    const silent = await RawConnection.open(at.port);
    silent.socket.pause();
    silent.write('GET /v1/jobs/j1/events HTTP/1.1\r\nhost: localhost\r\n\r\n');
    const port = silent.socket.localPort;
    const response = await until(() =>
      responses.find(({ socket, headersSent }) => headersSent && socket?.remotePort === port),
    );
    // More than both kernels keep for a reader that does not read.
    response.write(Buffer.alloc(32 * 1024 * 1024, ': \n'));
    await until(() => (response.destroyed ? true : undefined));
    const { comments } = reader;
    await until(() => (reader.comments > comments ? true : undefined));
    reader.leave();
    silent.socket.destroy();
    await close(at.server, at.handler);
    await manager.stop();
  });
});
