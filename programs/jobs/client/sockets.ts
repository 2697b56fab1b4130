/**
 * Sockets of a client: it connects to nodes by their addresses over WebSocket, under the name that its
 * token belongs to.
 *
 * The sockets are loaded when somebody asks for them; a client with a transport of its own does without.
 * `connected` settles once: with the place of the first node that lets the client in, or with why
 * none does. What happens to connections afterwards is the transport's affair.
 */

import { RuntimeError } from '../../../runtime/base/errors.ts';
import type { InspectionReader } from '../../../runtime/base/inspection.ts';
import type { Logger } from '../../../runtime/base/limits.ts';
import { whenAborted } from '../../../runtime/base/when-aborted.ts';
import type { Clock } from '../../../runtime/ports/clock.ts';
import type { Random } from '../../../runtime/ports/random.ts';
import type { WebSocketTls, WebSocketTransport } from '../../../transports/websocket.ts';
import { JOBS_ROLES } from '../peer-roles.ts';

export interface SocketAddress {
  /** `ws://` or `wss://`; several, where managers stand in for each other. */
  readonly url: string | readonly string[];
  /** The token of a client in the configuration of these nodes. */
  readonly token?: string;
  /** For `wss://`: whose certificates are trusted, and the client's own where they ask for one. */
  readonly tls?: WebSocketTls;
  /** The name that goes with the token, the default of nodes on this machine without tokens. Default `local`. */
  readonly client?: string;
}

export interface ClientSockets {
  readonly transport: WebSocketTransport;
  /** Name of this client among all nodes: no other one has it. */
  readonly node: string;
  /** Reads the runtime from its first record on. */
  readonly inspect: InspectionReader;
  readonly connected: Promise<string>;
}

export interface ClientSocketPorts {
  readonly clock: Clock;
  /** Left out: that of the system, which then ends with the transport. */
  readonly ownClock: Clock | undefined;
  readonly random: Random;
  readonly logger: Logger;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/** Name of a client that comes without a token where there are none. */
const LOCAL_CLIENT = 'local';
/** No token, or one that is not let in. What else goes wrong may pass. */
const REFUSALS: ReadonlySet<number | undefined> = new Set([401, 403]);

/** @throws {RuntimeError} OPTION_INVALID */
export async function openClientSockets(
  { url, token, tls, client = LOCAL_CLIENT }: SocketAddress,
  ports: ClientSocketPorts,
): Promise<ClientSockets> {
  const { clock, ownClock, random, logger, timeoutMs, signal } = ports;
  const { websocketTransport } = await import('../../../transports/websocket.ts');
  const urls = typeof url === 'string' ? [url] : url;
  const node = `${client}~${random.id()}`;
  const failures = new Map<string, { readonly reason: string; readonly isRefusal: boolean }>();
  const { promise: connected, resolve, reject } = settling<string>();
  const transport = websocketTransport({
    node,
    role: 'client',
    roles: JOBS_ROLES,
    peers: urls,
    random,
    logger,
    onUnreached: (peer, reason, status) => {
      failures.set(peer, { reason, isRefusal: REFUSALS.has(status) });
      const refusals = [...failures.values()].filter(({ isRefusal }) => isRefusal);
      if (refusals.length >= urls.length) reject(failure('CONNECT_REFUSED'));
    },
    ...(token !== undefined && { token }),
    ...(tls !== undefined && { tls }),
    ...(ownClock !== undefined && { clock: ownClock }),
  });
  const cancel = clock.schedule(clock.now() + timeoutMs, () =>
    reject(failure('CONNECT_TIMED_OUT')),
  );
  const aborted = (): void => reject(new RuntimeError('ABORTED', 'The signal was aborted.'));
  const unwatch = signal === undefined ? () => {} : whenAborted(signal, aborted);
  const settled = (): void => {
    cancel();
    unwatch();
  };
  connected.then(settled, settled);
  return {
    transport,
    node,
    connected,
    inspect: (record) => {
      if (record.type !== 'peer' || record.change !== 'up') return;
      const identity = transport.identityOf(record.peer);
      if (identity !== undefined) resolve(identity.place);
    },
  };

  function failure(code: 'CONNECT_REFUSED' | 'CONNECT_TIMED_OUT'): RuntimeError {
    const reasons = [...failures].map(([peer, { reason }]) => `${peer}: ${reason}`).join('; ');
    const what =
      code === 'CONNECT_REFUSED'
        ? `No node lets "${client}" in`
        : `No node let "${client}" in within ${timeoutMs} ms`;
    return new RuntimeError(code, `${what}: ${reasons || 'none has answered'}.`);
  }
}

function settling<T>(): {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (failure: Error) => void;
} {
  let resolve!: (value: T) => void;
  let reject!: (failure: Error) => void;
  const promise = new Promise<T>((resolveIt, rejectIt) => {
    resolve = resolveIt;
    reject = rejectIt;
  });
  return { promise, resolve, reject };
}
