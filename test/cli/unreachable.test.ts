/** Commands and what is at the other end of the line: nobody, somebody else, somebody slow or lost. */

import type { ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createRawServer, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Connection } from '../../cli/api/connection.ts';
import { watchJob } from '../../cli/api/watch.ts';
import { CommandFailure } from '../../cli/exit.ts';
import type { JobView } from '../../machines/jobs/messages/client.ts';
import { escapement } from './command-line.ts';
import { answer, serve } from './pretend-node.ts';

/** A client that connects gets these bytes, and the end of the line. */
async function serveBytes(bytes: string): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createRawServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('data', () => socket.end(bytes));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const refused = (status: number, code: string, message = 'No') =>
  answer(status, { error: { code, message } });

describe('a node', () => {
  test('that is not there is exit 69, with what to do', async () => {
    const { code, out, err } = await escapement(['jobs', '--url', 'http://127.0.0.1:1']);
    expect([code, out]).toEqual([69, '']);
    expect(err).toBe(
      'error: http://127.0.0.1:1/ cannot be reached: nothing listens there. Is the node up? Say where it is with --url or ESCAPEMENT_URL.\n',
    );
  });

  test.each(['why', 'timers'])(
    'that is not there may have left a directory: %s',
    async (command) => {
      const words = command === 'why' ? [command, 'j1'] : [command];
      const { code, err } = await escapement([...words, '--url', 'http://127.0.0.1:1']);
      expect([code, err]).toEqual([69, expect.stringContaining('name it with --from.\n')]);
    },
  );

  test.each([
    [200, 'hello', 'that is no node of Escapement with an API'],
    [404, '<h1>Not found</h1>', 'that is no node'],
    [302, '', 'sends on to another address'],
    [500, 'oops', 'that is no node'],
  ])('that is none, and answers %d, is exit 69', async (status, body, what) => {
    const url = await serve(answer(status, body, { location: 'http://127.0.0.1:1/' }));
    const { code, err } = await escapement(['show', 'j1', '--url', url]);
    expect([code, err]).toEqual([69, expect.stringContaining(what)]);
  });

  test.each([
    ['SSH-2.0-OpenSSH\r\n', 'does not speak HTTP'],
    ['HTTP/1.1 200 OK\r\ncontent-length: 90\r\n\r\n{"jobs":', 'cannot be reached'],
    ['', 'the connection was cut. Where a node has TLS its URL begins with https.'],
  ])('that says %j is exit 69', async (bytes, what) => {
    const url = await serveBytes(bytes);
    const { code, err } = await escapement(['show', 'j1', '--url', url]);
    expect([code, err]).toEqual([69, expect.stringContaining(what)]);
  });

  test.each([
    [400, 'invalid', 65],
    [401, 'unauthorized', 77],
    [403, 'forbidden', 77],
    [404, 'notFound', 1],
    [409, 'conflict', 65],
    [409, 'alreadyFinal', 1],
    [413, 'bodyTooLarge', 65],
    [415, 'unsupportedMediaType', 65],
    [421, 'wrongHost', 77],
    [429, 'tooManyRequests', 69],
    [500, 'internal', 69],
    [503, 'notLeader', 69],
    [504, 'answerLate', 69],
  ])('that refuses with %d %s has its exit code', async (status, word, exitCode) => {
    const url = await serve(refused(status, word, '\u001b[31mNo'));
    const { code, out, err } = await escapement(['show', 'j1', '--url', url]);
    expect([code, out]).toEqual([exitCode, '']);
    // H23: words of a node do nothing to a terminal.
    expect(err).toContain(`error: \\u001b[31mNo. (${status} ${word})\n`);
  });

  test.each([
    ['limit', 'must be 1 to 500.', 'limit: must be 1 to 500. (400 invalid)'],
    ['limit', 'limit is too large.', 'limit is too large. (400 invalid)'],
  ])(
    'that refuses %s because it %j is told once what it is about',
    async (field, message, said) => {
      const url = await serve(answer(400, { error: { code: 'invalid', message, field } }));
      const { err } = await escapement(['show', 'j1', '--url', url]);
      expect(err).toBe(`error: ${said}\n`);
    },
  );

  test('that is too slow, or says too much, is given up', async () => {
    const silent = await serve(() => {});
    const slow = new Connection({ url: new URL(silent), timeoutMs: 20 });
    await expect(slow.get('/v1/jobs')).rejects.toThrow('did not answer in time');
    const endless = await serve((_request, response) => {
      response.writeHead(200);
      response.write('[1');
    });
    const patient = new Connection({ url: new URL(endless), timeoutMs: 20 });
    await expect(patient.get('/v1/jobs')).rejects.toThrow('did not answer in time');
    const large = await serve(answer(200, 'x'.repeat(2_000)));
    const small = new Connection({ url: new URL(large), answerBytesMax: 1_000 });
    await expect(small.get('/v1/jobs')).rejects.toThrow('more than 1000 bytes');
  });

  test('that is lost for a moment is asked again for what can be repeated', async () => {
    const keys: unknown[] = [];
    const url = await serve((request, response) => {
      keys.push(request.headers['idempotency-key']);
      if (keys.length === 1) request.socket.destroy();
      else if (keys.length === 2) refused(503, 'notLeader')(request, response);
      else answer(201, { jobId: 'j1', accepted: true, created: true })(request, response);
    });
    const args = ['submit', '--id', 'j1', '--timeout', '1m', '--workflow', 'one=echo'];
    expect((await escapement([...args, '--url', url])).code).toBe(0);
    expect(keys).toEqual(['j1', 'j1', 'j1']);
  });
});

describe('a watched job', () => {
  const viewOf = (status: string, seq: number) => ({ jobId: 'j1', status, seq }) as JobView;
  const event = (view: JobView) => `id: ${view.seq}\nevent: job\ndata: ${JSON.stringify(view)}\n\n`;

  /** Each stream of events is one of these; looks are answered with what was told last. */
  async function watched(streams: ReadonlyArray<(response: ServerResponse) => void>) {
    const seen: unknown[] = [];
    let opened = 0;
    let status = 'running';
    const url = await serve((request, response) => {
      if (request.url?.endsWith('/events') !== true) {
        answer(200, viewOf(status, 1))(request, response);
        return;
      }
      seen.push(request.headers['last-event-id']);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const stream = streams[Math.min(opened, streams.length - 1)];
      opened += 1;
      if (opened >= streams.length) status = 'completed';
      stream?.(response);
    });
    const views: string[] = [];
    const lost: string[] = [];
    const job = watchJob(new Connection({ url: new URL(url) }), 'j1', {
      onView: (view) => views.push(view.status),
      onLost: (why) => lost.push(why),
      pollMs: 60_000,
    });
    return { job, seen, views, lost };
  }

  test('is taken up where it was when its stream is cut', async () => {
    const { job, seen, views, lost } = await watched([
      (response) => {
        response.write(event(viewOf('running', 2)), () => response.destroy());
      },
      (response) => {
        response.end(': nothing new\n\n');
      },
      (response) => {
        response.write(event(viewOf('completed', 3)));
      },
    ]);
    expect(await job).toMatchObject({ status: 'completed' });
    expect(seen).toEqual([undefined, '2', '2']);
    expect(views.filter((status) => status === 'completed').length).toBeGreaterThan(0);
    expect(lost).toHaveLength(1);
  });

  test('ends when a look shows the end and no event does', async () => {
    const url = await serve((request, response) => {
      if (request.url?.endsWith('/events') === true) response.writeHead(200).flushHeaders();
      else answer(200, viewOf('failed', 3))(request, response);
    });
    const options = { onView: () => {}, onLost: () => expect.fail('It was not lost.') };
    const connection = new Connection({ url: new URL(url) });
    expect(await watchJob(connection, 'j1', options)).toMatchObject({ status: 'failed' });
  });

  test('is given up when the node stays away, at once when it refuses', async () => {
    const silent = await serve((request) => request.socket.destroy());
    const options = { onView: () => {}, onLost: () => {}, pollMs: 60_000, patienceMs: 1 };
    const lost = watchJob(new Connection({ url: new URL(silent) }), 'j1', options);
    await expect(lost).rejects.toThrow('the connection was cut');
    const url = await serve(refused(404, 'notFound', 'There is no such job.'));
    const unknown = watchJob(new Connection({ url: new URL(url) }), 'j1', {
      ...options,
      patienceMs: 60_000,
    });
    await expect(unknown).rejects.toBeInstanceOf(CommandFailure);
  });
});

describe('an address or a token', () => {
  test.each([
    ['ftp://gate', 'begins with http:// or https://'],
    ['gate', 'is no URL'],
    ['http://olga:secret@127.0.0.1:7400', 'must not have a user or a password'],
    ['http://127.0.0.1:7400/?token=x', 'must not have a query'],
  ])('%s is wrong usage', async (url, what) => {
    const { code, err } = await escapement(['jobs', '--url', url]);
    expect([code, err]).toEqual([64, expect.stringContaining(what)]);
    expect(err).not.toContain('secret');
    const named = await escapement(['jobs'], { env: { ESCAPEMENT_URL: url } });
    expect([named.code, named.err]).toEqual([64, expect.stringContaining('ESCAPEMENT_URL')]);
  });

  test('that is no token is bad data, and a file that is not there as well', async () => {
    const env = { ESCAPEMENT_TOKEN: 'two words' };
    expect(await escapement(['jobs'], { env })).toMatchObject({
      code: 65,
      err: expect.stringContaining('ESCAPEMENT_TOKEN: A token is one word'),
    });
    expect((await escapement(['jobs', '--token-file', 'no-such-file'])).code).toBe(65);
    expect((await escapement(['jobs', '--token-file', '/'])).code).toBe(65);
    expect((await escapement(['jobs', '--cert', 'one'])).code).toBe(64);
    expect((await escapement(['jobs', '--cert', 'no', '--key', 'no'])).code).toBe(65);
    const endless = ['--cert', '/dev/zero', '--key', '/dev/zero'];
    expect((await escapement(['jobs', ...endless])).code).toBe(65);
    expect(await escapement(['jobs', '--token-file', '/dev/zero'])).toMatchObject({
      code: 65,
      err: expect.stringContaining('/dev/zero: is no token'),
    });
  });

  test('goes out with a warning where everybody can read it', async () => {
    const env = { ESCAPEMENT_TOKEN: 'olga' };
    const { code, err } = await escapement(['jobs', '--url', 'http://gate.invalid'], { env });
    expect(code).toBe(69);
    expect(err).toMatch(/^warning: the token goes to gate\.invalid unencrypted;/);
  });

  test('comes with every request, and a path of the address goes before those of the API', async () => {
    const seen: unknown[] = [];
    const url = await serve((request, response) => {
      seen.push([request.url, request.headers.authorization]);
      answer(200, { jobs: [], cursor: null })(request, response);
    });
    const env = { ESCAPEMENT_TOKEN: ' olga\n', ESCAPEMENT_URL: `${url}/cluster/` };
    expect((await escapement(['jobs', '--limit', '5'], { env })).code).toBe(0);
    expect(seen).toEqual([['/cluster/v1/jobs?limit=5', 'Bearer olga']]);
  });
});
