/**
 * Handler of the inspector, for `node:http` and whatever is built on it: it serves the page, answers its queries,
 * keeps its stream, and takes its commands.
 *
 *   method ─▶ target ─▶ Host, Origin ─▶ token ─▶ page file | query | stream | watch | command
 *
 * Guarantees: every request is answered, whatever is thrown; nothing is loaded from elsewhere and no other origin is
 * ever allowed; a command comes from the page's own origin, by a viewer that may. It listens nowhere.
 */

import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Origins } from '../http/origins.ts';
import { HttpRefusal } from '../http/refusal.ts';
import { readTarget } from '../http/target.ts';
import { RuntimeError } from '../runtime/base/errors.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { type Admission, type Authorize, authorizeBy, tokenOf, type Viewer } from './access.ts';
import { ALWAYS, keepToken, redirect, sendJson, statusOf } from './answers.ts';
import { jsonBody } from './body.ts';
import { LiveInspector } from './live-inspector.ts';
import { type InspectorHandlerOptions, type ResolvedOptions, resolveOptions } from './options.ts';
import type { SourceInspector } from './source.ts';
import { readPage, type StaticFile } from './static-files.ts';
import { parametersOf } from './url-parameters.ts';

export interface InspectorHandler {
  (request: IncomingMessage, response: ServerResponse): void;
  /** Ends all streams and stops collecting. Idempotent. */
  close(): void;
}

const URL_BYTES_MAX = 16 * 1024;

/**
 * Inspector of a runtime, to mount in any server under any path.
 *
 * @throws {RuntimeError} OPTION_INVALID
 */
export function inspectorHandler(
  runtime: Runtime<never>,
  options: InspectorHandlerOptions = {},
): InspectorHandler {
  const resolved = resolveOptions(options);
  const inspector = new LiveInspector(runtime as unknown as Runtime, resolved);
  return handlerOf(inspector, resolved);
}

/** Handler of any source: a runtime, a recording, a directory. */
export function handlerOf(source: SourceInspector, options: ResolvedOptions): InspectorHandler {
  const door = new Door(source, options);
  return Object.assign(
    (request: IncomingMessage, response: ServerResponse) => void door.take(request, response),
    {
      close: () => source.close(),
    },
  );
}

interface Call {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly query: URLSearchParams;
  readonly viewer: Viewer;
}

class Door {
  readonly #source: SourceInspector;
  readonly #options: ResolvedOptions;
  readonly #origins: Origins;
  readonly #authorize: Authorize;
  #page: ReadonlyMap<string, StaticFile> | undefined;
  /** Sockets whose stream is open: nothing more may be said on them. */
  readonly #streaming = new WeakSet<object>();

  constructor(source: SourceInspector, options: ResolvedOptions) {
    this.#source = source;
    this.#options = options;
    this.#origins = new Origins(options.hosts ?? [], options.hosts === undefined);
    this.#authorize = options.authorize ?? authorizeBy(options);
  }

  async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // A connection that breaks is no error of the process.
    response.on('error', () => {});
    request.on('error', () => {});
    if (this.#streaming.has(request.socket)) {
      request.socket.destroy();
      return;
    }
    try {
      await this.#answer(request, response);
    } catch (thrown) {
      this.#refuse(response, thrown);
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET' } = request;
    if (!['GET', 'HEAD', 'POST'].includes(method))
      throw new HttpRefusal('methodNotAllowed', 'The inspector takes GET and POST.', {
        headers: { allow: 'GET, HEAD, POST' },
      });
    const { prefix } = this.#options;
    const [path = '', search = ''] = (request.url ?? '/').split('?', 2);
    if ((path === prefix && prefix !== '') || path === '')
      return redirect(request, response, search);
    const { segments, query } = readTarget(request.url ?? '/', prefix, URL_BYTES_MAX);
    if (prefix !== '' && !path.startsWith(`${prefix}/`))
      throw new HttpRefusal('notFound', 'There is nothing here.');
    this.#origins.check(request);
    const admission = this.#authorize(request, tokenOf(request, query));
    if (!('viewer' in admission)) return this.#turnAway(response, admission);
    if (query.has('token') && method === 'GET') return keepToken(request, response, query);
    const call = { request, response, query, viewer: admission.viewer };
    const [first = '', name = '', ...rest] = segments;
    if (first !== 'api') return this.#file(call, segments.join('/'));
    if (rest.length > 0) throw new HttpRefusal('notFound', 'There is nothing here.');
    return method === 'POST' ? this.#post(call, name) : this.#get(call, name);
  }

  async #get({ request, response, query, viewer }: Call, name: string): Promise<void> {
    if (hasBody(request))
      throw new HttpRefusal('invalid', 'There is no body here.', { endsConnection: true });
    if (name === 'stream') return this.#stream(request, response, viewer);
    if (name === 'hello') return sendJson(response, 200, this.#source.hello(viewer));
    if (name === 'recording' || name === 'test') {
      const file = await this.#source.file(name, parametersOf(query));
      response.writeHead(200, {
        ...ALWAYS,
        'content-type': file.type,
        'cache-control': 'no-store',
        'content-disposition': `attachment; filename="${file.name}"`,
      });
      response.end(file.text);
      return;
    }
    const answer = await this.#source.query(name, parametersOf(query));
    const isDefinition = name === 'definition' && query.has('hash');
    sendJson(response, 200, answer, isDefinition ? 'private, max-age=86400' : 'no-store');
  }

  async #post({ request, response, viewer }: Call, name: string): Promise<void> {
    if (name !== 'watch' && name !== 'command')
      throw new HttpRefusal('notFound', 'There is nothing here.');
    const { origin } = request.headers;
    const site = request.headers['sec-fetch-site'];
    // A program on this machine sends no Origin; a browser always does, and the guard has checked it.
    if (origin === undefined && site !== undefined && site !== 'same-origin')
      throw new HttpRefusal('forbidden', 'Pages of other sites have no access.');
    const body = await jsonBody(request);
    if (name === 'watch') {
      this.#source.watch(body);
      response.writeHead(204, ALWAYS);
      response.end();
      return;
    }
    if (!viewer.mayCommand) {
      const why = viewer.why ?? 'This viewer may only look.';
      sendJson(response, 403, {
        at: this.#source.now(),
        outcome: 'refused',
        why,
        code: 'NOT_ALLOWED',
        error: { code: 'forbidden', message: why },
      });
      return;
    }
    sendJson(response, 200, await this.#source.command(body, viewer));
  }

  #stream(request: IncomingMessage, response: ServerResponse, viewer: Viewer): void {
    const { socket } = request;
    const leave = this.#source.open(response, viewer, () => {
      response.writeHead(200, {
        ...ALWAYS,
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
      });
      response.flushHeaders();
      socket.setTimeout(0);
      this.#streaming.add(socket);
    });
    response.once('close', () => {
      this.#streaming.delete(socket);
      leave();
    });
  }

  #file({ request, response }: Call, path: string): void {
    if (request.method === 'POST')
      throw new HttpRefusal('methodNotAllowed', 'Files are only read.', {
        headers: { allow: 'GET, HEAD' },
      });
    this.#page ??= readPage(this.#options.pageFolder);
    const file = this.#page.get(path === '' ? 'index.html' : path);
    if (file === undefined) throw new HttpRefusal('notFound', 'There is nothing here.');
    const headers = {
      ...ALWAYS,
      'content-type': file.type,
      'cache-control': file.isImmutable ? 'private, max-age=31536000, immutable' : 'no-cache',
      etag: file.etag,
    };
    if (request.headers['if-none-match'] === file.etag) {
      response.writeHead(304, headers);
      response.end();
      return;
    }
    response.writeHead(200, { ...headers, 'content-length': String(file.body.length) });
    response.end(request.method === 'HEAD' ? undefined : file.body);
  }

  #turnAway(
    response: ServerResponse,
    { status, why }: Extract<Admission, { status: unknown }>,
  ): void {
    const code = status === 401 ? 'unauthorized' : 'forbidden';
    sendJson(
      response,
      status,
      { error: { code, message: why } },
      'no-store',
      status === 401 ? { 'www-authenticate': 'Bearer' } : {},
    );
  }

  #refuse(response: ServerResponse, thrown: unknown): void {
    if (response.headersSent || response.destroyed) {
      response.destroy();
      return;
    }
    if (thrown instanceof HttpRefusal) {
      const headers = { ...thrown.headers, ...(thrown.endsConnection && { connection: 'close' }) };
      sendJson(response, thrown.status, thrown.toJSON(), 'no-store', headers);
      return;
    }
    if (thrown instanceof RuntimeError) {
      sendJson(response, statusOf(thrown), {
        error: { code: thrown.code, message: thrown.message },
      });
      return;
    }
    const fault = randomUUID();
    this.#source.failed(fault, thrown);
    sendJson(response, 500, {
      error: {
        code: 'internal',
        message: `Something went wrong here. It is in the log as ${fault}.`,
      },
    });
  }
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
