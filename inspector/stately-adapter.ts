/**
 * Adapter to viewers that speak the protocol of `@statelyai/inspect`: it sends what happens at a runtime to the one
 * WebSocket that is named, and listens to nothing.
 *
 * Guarantees: off until it is called; nothing leaves this machine but to a host that stands in `allow`, and only over
 * TLS. Secrets are replaced before anything is sent. A viewer that is away or slow holds nothing up: what it cannot
 * take is left out, counted and logged.
 */

import { WebSocket } from 'ws';
import { messageOf, RuntimeError } from '../runtime/base/errors.ts';
import { Runtime } from '../runtime/runtime.ts';
import { StatelyMessages } from './stately-messages.ts';

export interface StatelyAdapterOptions {
  /** WebSocket of the viewer's server: `ws://127.0.0.1:8080`. */
  readonly url: string;
  /** Names of hosts beside this machine to which it may be sent; these need `wss:`. Default: none. */
  readonly allow?: readonly string[];
  /** Kinds that are told of. Default: all. */
  readonly kinds?: readonly string[];
  /** `(path, value) => shown`, for what is no secret by its name. */
  readonly redact?: (path: string, value: unknown) => unknown;
  /** Bytes that may wait for the viewer; what is beyond is left out. Default 1,048,576. */
  readonly bytesMax?: number;
  /** Time after which a viewer that is away is tried again. Default 2,000. */
  readonly retryMs?: number;
}

export interface StatelyAdapter {
  /** Messages and turns that were left out because the viewer was slow or away. */
  readonly skipped: number;
  /** True while the viewer is there. */
  readonly isConnected: boolean;
  /** Ends the connection. Idempotent. */
  close(): void;
}

const BYTES_MAX = 1_048_576;
const RETRY_MS = 2_000;
const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/** @throws {RuntimeError} OPTION_INVALID for an address that is none, or one elsewhere that is not allowed */
export function statelyAdapter(
  runtime: Runtime<never>,
  options: StatelyAdapterOptions,
): StatelyAdapter {
  const { url, allow = [], kinds, redact, bytesMax = BYTES_MAX, retryMs = RETRY_MS } = options;
  const target = allowedUrl(url, allow);
  for (const [name, value] of Object.entries({ bytesMax, retryMs }))
    if (!Number.isSafeInteger(value) || value < 1)
      throw new RuntimeError('OPTION_INVALID', `"${name}" must be a positive whole number.`);
  const watch = Runtime.watchOf(runtime);
  const messages = new StatelyMessages({
    machine: (kind) => watch.kinds().find(({ name }) => name === kind)?.machine,
    redact,
  });
  const viewer = new Viewer(
    target,
    { bytesMax, retryMs },
    {
      connected: () => messages.forget(),
      lost: (why, skipped) =>
        watch.logger.warn(
          { event: 'inspector.statelyLost', url: target, why, skipped },
          'the viewer of inspection messages is away; it is tried again',
        ),
    },
  );
  const unread = runtime.inspect((record) => {
    if (kinds !== undefined && 'address' in record && !isOfKind(record.address, kinds)) return;
    if (!viewer.isThere) {
      if (record.type === 'turn') viewer.skipped += 1;
      return;
    }
    for (const message of messages.of(record)) viewer.send(JSON.stringify(message));
  });
  const close = (): void => {
    unread();
    viewer.close();
  };
  watch.ended.addEventListener('abort', close, { once: true });
  return {
    get skipped() {
      return viewer.skipped;
    },
    get isConnected() {
      return viewer.isThere;
    },
    close,
  };
}

const isOfKind = (address: string, kinds: readonly string[]): boolean =>
  kinds.some((kind) => address.startsWith(`${kind}/`));

function allowedUrl(text: string, allow: readonly string[]): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^wss?:$/.test(url.protocol))
    throw new RuntimeError(
      'OPTION_INVALID',
      '"url" is the address of a WebSocket: ws:// or wss://.',
    );
  if (LOOPBACK.has(url.hostname)) return url.href;
  if (!allow.includes(url.hostname))
    throw new RuntimeError(
      'OPTION_INVALID',
      `"${url.hostname}" is not this machine: name it in "allow" if contexts and events may go there.`,
    );
  if (url.protocol !== 'wss:')
    throw new RuntimeError('OPTION_INVALID', `Beyond this machine "url" must begin with wss://.`);
  return url.href;
}

interface ViewerNews {
  readonly connected: () => void;
  readonly lost: (why: string, skipped: number) => void;
}

/** Connection to the viewer: it is tried again while it is wanted. */
class Viewer {
  skipped = 0;
  readonly #url: string;
  readonly #limits: { readonly bytesMax: number; readonly retryMs: number };
  readonly #news: ViewerNews;
  #socket: WebSocket | undefined;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  constructor(
    url: string,
    limits: { readonly bytesMax: number; readonly retryMs: number },
    news: ViewerNews,
  ) {
    this.#url = url;
    this.#limits = limits;
    this.#news = news;
    this.#open();
  }

  get isThere(): boolean {
    return this.#socket?.readyState === WebSocket.OPEN;
  }

  send(text: string): void {
    const socket = this.#socket;
    if (
      socket === undefined ||
      !this.isThere ||
      socket.bufferedAmount + text.length > this.#limits.bytesMax
    )
      this.skipped += 1;
    else socket.send(text);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    this.#socket?.terminate();
  }

  #open(): void {
    let why = 'it closed the connection';
    const socket = new WebSocket(this.#url, { maxPayload: 65_536, perMessageDeflate: false });
    this.#socket = socket;
    socket.on('open', () => this.#news.connected());
    socket.on('error', (thrown) => {
      why = messageOf(thrown);
    });
    // What a viewer says is not heard: it only looks.
    socket.on('close', () => {
      if (this.#isClosed) return;
      this.#news.lost(why, this.skipped);
      this.#retry = setTimeout(() => this.#open(), this.#limits.retryMs);
      this.#retry.unref();
    });
  }
}
