/**
 * Connection of commands to the HTTP API of a node.
 *
 * Guarantees: a request ends, with an answer or with a CommandFailure that says in words what is
 * wrong and has the exit code for it; what an answer may take is bounded in time and size. Nothing
 * is asked twice here: a caller that knows that a repetition does no harm repeats.
 */

import type { ClientRequest, IncomingMessage } from 'node:http';
import { readEvents, type ServerEvent } from './event-stream.ts';
import { refusalOf, unreachable } from './failures.ts';

/** For nodes that want to see one; both PEM. */
export interface ClientCertificate {
  readonly cert: Buffer;
  readonly key: Buffer;
}

export interface ConnectionOptions {
  /** URL at which the node listens; a path in it goes before those of the API. */
  readonly url: URL;
  readonly token?: string | undefined;
  readonly certificate?: ClientCertificate | undefined;
  /** Time from the first byte out to the last one in. Default 35,000: a node itself waits for up to 30. */
  readonly timeoutMs?: number;
  /** Limit of one answer. Default 64 MiB. */
  readonly answerBytesMax?: number;
  /** A stream of events that says nothing for that long is dead: nodes say something every 15 s. Default 45,000. */
  readonly silenceMs?: number;
}

export interface Asked {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Query of the request; what is undefined is left out. */
  readonly query?: Readonly<Record<string, string | number | undefined>>;
}

export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

type Method = 'GET' | 'POST' | 'DELETE';

export class Connection {
  readonly url: URL;
  readonly #token: string | undefined;
  readonly #certificate: ClientCertificate | undefined;
  readonly #timeoutMs: number;
  readonly #answerBytesMax: number;
  readonly #silenceMs: number;

  constructor({
    url,
    token,
    certificate,
    timeoutMs = 35_000,
    answerBytesMax = 64 * 1024 * 1024,
    silenceMs = 45_000,
  }: ConnectionOptions) {
    this.url = url;
    this.#token = token;
    this.#certificate = certificate;
    this.#timeoutMs = timeoutMs;
    this.#answerBytesMax = answerBytesMax;
    this.#silenceMs = silenceMs;
  }

  /** @throws {CommandFailure} */
  async get<TBody>(path: string, query?: Asked['query']): Promise<TBody> {
    const { body } = await this.ask('GET', path, query === undefined ? {} : { query });
    return body as TBody;
  }

  /** Resolves with answers of success only. @throws {CommandFailure} */
  async ask(method: Method, path: string, asked: Asked = {}): Promise<Answer> {
    const timeout = AbortSignal.timeout(this.#timeoutMs);
    const response = await this.#open(method, path, asked, timeout);
    const body = parsed(await this.#textOf(response, timeout));
    const { statusCode: status = 0 } = response;
    if (status >= 200 && status < 300 && body !== NO_JSON) return { status, body };
    const { 'retry-after': retryAfter } = response.headers;
    throw refusalOf(this.url, status, body === NO_JSON ? undefined : body, retryAfter);
  }

  /** Body of an answer that is no JSON. @throws {CommandFailure} */
  async text(path: string): Promise<string> {
    const timeout = AbortSignal.timeout(this.#timeoutMs);
    const response = await this.#open('GET', path, {}, timeout);
    const text = await this.#textOf(response, timeout);
    const { statusCode: status = 0 } = response;
    if (status >= 200 && status < 300) return text;
    const body = parsed(text);
    const { 'retry-after': retryAfter } = response.headers;
    throw refusalOf(this.url, status, body === NO_JSON ? undefined : body, retryAfter);
  }

  /** Ends when the node ends the stream, or `signal` does. @throws {CommandFailure} */
  async *events(
    path: string,
    { lastEventId, signal }: { readonly lastEventId?: string; readonly signal: AbortSignal },
  ): AsyncGenerator<ServerEvent> {
    const headers = {
      accept: 'text/event-stream',
      ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
    };
    const silence = new AbortController();
    const opening = setTimeout(() => silence.abort(), this.#timeoutMs);
    const either = AbortSignal.any([signal, silence.signal]);
    let response: IncomingMessage;
    try {
      response = await this.#open('GET', path, { headers }, either);
    } catch (thrown) {
      if (signal.aborted) return;
      throw thrown;
    } finally {
      clearTimeout(opening);
    }
    // There is nothing more to tell.
    if (response.statusCode === 204) {
      response.resume();
      return;
    }
    if (response.statusCode !== 200) {
      const body = parsed(await this.#textOf(response, either));
      const { statusCode = 0, headers: said } = response;
      throw refusalOf(
        this.url,
        statusCode,
        body === NO_JSON ? undefined : body,
        said['retry-after'],
      );
    }
    response.setTimeout(this.#silenceMs, () => silence.abort());
    try {
      yield* readEvents(response);
    } catch (thrown) {
      if (signal.aborted) return;
      throw unreachable(this.url, silence.signal.aborted ? timedOut() : thrown);
    } finally {
      response.destroy();
    }
  }

  /** Resolves when the head of the answer is there. */
  async #open(
    method: Method,
    path: string,
    { body, headers, query = {} }: Asked,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    // Loaded when it is needed, and only one of the two is.
    const { request } =
      this.url.protocol === 'https:' ? await import('node:https') : await import('node:http');
    const text = body === undefined ? undefined : JSON.stringify(body);
    const options = {
      method,
      signal,
      ...this.#certificate,
      headers: {
        accept: 'application/json',
        ...(text !== undefined && {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(text),
        }),
        ...(this.#token !== undefined && { authorization: `Bearer ${this.#token}` }),
        ...headers,
      },
      // One question, or a few: nothing is left behind that keeps the process alive.
      agent: false,
    } as const;
    return new Promise((resolve, reject) => {
      const refuse = (thrown: unknown): void =>
        reject(unreachable(this.url, signal.aborted ? timedOut() : thrown));
      let asking: ClientRequest;
      try {
        asking = request(addressOf(this.url, path, query), options, resolve);
      } catch (thrown) {
        refuse(thrown);
        return;
      }
      // Stays for the whole life of the socket: what comes after the answer is told by its stream.
      asking.on('error', refuse);
      asking.end(text);
    });
  }

  async #textOf(response: IncomingMessage, signal: AbortSignal): Promise<string> {
    const chunks: Buffer[] = [];
    let bytes = 0;
    try {
      for await (const chunk of response as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        if (bytes > this.#answerBytesMax)
          throw new Error(`its answer takes more than ${this.#answerBytesMax} bytes`);
        chunks.push(chunk);
      }
    } catch (thrown) {
      throw unreachable(this.url, signal.aborted ? timedOut() : thrown);
    }
    return Buffer.concat(chunks).toString('utf8');
  }
}

/** The names of jobs, actors and messages are parts of paths. */
export function segment(name: string): string {
  // A path is put in order before it is sent, and such a name would take a part of it along.
  return name === '.' || name === '..' ? name.replaceAll('.', '%2E') : encodeURIComponent(name);
}

/** Path of an actor in a node's API. */
export function actorPath(
  of: 'actors' | 'explain' | 'history' | 'revive' | 'end' | 'forget',
  address: string,
): string {
  return `/v1/${of}/${address.split('/').map(segment).join('/')}`;
}

function addressOf(base: URL, path: string, query: NonNullable<Asked['query']>): URL {
  const address = new URL(base);
  address.pathname = `${base.pathname.replace(/\/+$/, '')}${path}`;
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) address.searchParams.set(name, String(value));
  return address;
}

const NO_JSON = Symbol('no JSON');

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return NO_JSON;
  }
}

function timedOut(): Error {
  return Object.assign(new Error('it did not answer in time'), { code: 'ETIMEDOUT' });
}
