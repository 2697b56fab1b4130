/**
 * A gate, a datacenter and a worker in one process, each of the first two behind a real HTTP server
 * on a port of its own.
 */

import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  createHttpHandler,
  createHttpServer,
  type HttpHandler,
  type HttpHandlerOptions,
} from '../../http/index.ts';
import {
  type Gate,
  type HandlerContext,
  type JobWorker,
  type Manager,
  startGate,
  startManager,
  startWorker,
} from '../../programs/jobs/index.ts';
import { inProcessNetwork } from '../../transports/in-process.ts';

export const TOKENS = [
  { name: 'rita', role: 'reader', token: 'rita-may-only-look-at-it' },
  { name: 'sam', role: 'submitter', token: 'sam-may-submit-as-well-' },
  { name: 'olga', role: 'operator', token: 'olga-may-do-everything-' },
  { name: 'team', role: 'operator', token: 'team-has-jobs-of-its-own', jobs: ['team.'] },
  { name: 'late', role: 'operator', token: 'late-was-somebody-before', expiresAt: 1 },
] as const;

type Options = Partial<Omit<HttpHandlerOptions, 'program'>>;

export interface Endpoint {
  readonly url: string;
  readonly port: number;
  readonly server: Server;
  readonly handler: HttpHandler;
  /** A request with a JSON answer. */
  call(path: string, init?: RequestInit & { readonly json?: unknown }): Promise<Response>;
  body(path: string, init?: RequestInit & { readonly json?: unknown }): Promise<Answered>;
}

export interface Answered {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests say what they expect.
  readonly body: any;
}

export interface Served {
  readonly gate: Gate;
  readonly manager: Manager;
  readonly worker: JobWorker;
  readonly atGate: Endpoint;
  readonly atManager: Endpoint;
  stop(): Promise<void>;
}

/** Handlers of the worker: `echo` ends at once, `wait` when it is told to stop. */
const handlers = {
  echo: async ({ payload }: HandlerContext) => payload,
  wait: ({ signal }: HandlerContext) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('stopped')), { once: true });
    }),
};

export async function serve(options: Options = {}): Promise<Served> {
  const network = inProcessNetwork();
  const manager = await startManager({
    datacenter: 'A',
    gates: ['gate'],
    transport: network.join('A.manager-1'),
  });
  const gate = await startGate({
    gate: 'gate',
    datacenters: ['A'],
    transport: network.join('gate'),
  });
  const worker = await startWorker({
    worker: 'A.worker-1',
    datacenter: 'A',
    cores: 64,
    handlers,
    transport: network.join('A.worker-1'),
  });
  const atGate = await listen(gate, options);
  const atManager = await listen(manager, options);
  return {
    gate,
    manager,
    worker,
    atGate,
    atManager,
    async stop() {
      for (const { server, handler } of [atGate, atManager]) await close(server, handler);
      await worker.stop({ limitMs: 0 });
      for (const program of [gate, manager]) await program.stop();
    },
  };
}

export async function listen(
  program: HttpHandlerOptions['program'],
  options: Options = {},
): Promise<Endpoint> {
  const limits = { requestsPerMinute: 100_000, ...options.limits };
  const handler = createHttpHandler({ ...options, program, limits });
  const server = createHttpServer(handler, { limits }) as Server;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const call: Endpoint['call'] = (path, { json, ...init } = {}) =>
    fetch(`${url}${path}`, {
      ...init,
      ...(json !== undefined && {
        method: init.method ?? 'POST',
        body: JSON.stringify(json),
        headers: { 'content-type': 'application/json', ...init.headers },
      }),
    });
  return {
    url,
    port,
    server,
    handler,
    call,
    async body(path, init) {
      const response = await call(path, init);
      const text = await response.text();
      return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
    },
  };
}

export async function close(server: Server, handler: HttpHandler): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  await handler.close();
  server.closeAllConnections();
  await closed;
}

export const bearer = (name: string): Readonly<Record<string, string>> => {
  const token = TOKENS.find((one) => one.name === name)?.token;
  return { authorization: `Bearer ${token}` };
};

/** Resolves when what is asked for is there. */
export async function until<T>(look: () => Promise<T | undefined> | T | undefined): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
