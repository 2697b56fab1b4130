/**
 * The sockets of a node: who it says it is, whom it dials, and which clients may come.
 */

import { createHash, timingSafeEqual } from 'node:crypto';
import type { Server } from 'node:http';
import type { Server as TlsServer } from 'node:https';
import type { Logger } from '../../runtime/options.ts';
import { type WebSocketTransport, websocketTransport } from '../../transports/websocket.ts';
import { isLoopback } from './listen-address.ts';
import { refuseStranger } from './neighbours.ts';
import type { NodeClient } from './proofs.ts';
import type { NodeConfiguration } from './resolve.ts';

export interface SocketParts {
  readonly server: Server | TlsServer | undefined;
  /** As they are now: they can change while the node runs. */
  readonly clients: () => readonly NodeClient[] | undefined;
  readonly logger: Logger;
  /** A later start of this node has taken its name, as this peer knows. */
  readonly superseded: (peer: string) => void;
}

export interface Sockets {
  readonly transport: WebSocketTransport;
  /** Ends the connections of a client whose token does not hold any more. */
  part(client: string): void;
}

/** Of whoever comes without a token where there are none. */
const LOCAL_CLIENT = 'local';
/** Between the name of a client and what it calls itself. */
const CLIENT_MARK = '~';

/** @throws {RuntimeError} OPTION_INVALID */
export function openSockets(
  configuration: NodeConfiguration,
  { server, clients, logger, superseded }: SocketParts,
): Sockets {
  const { node, role, place, listen, peers, secret, tls, limits } = configuration;
  const isOpen = listen !== undefined && isLoopback(listen.host);
  const transport = websocketTransport({
    node,
    role,
    place,
    peers,
    limits: limits.sockets,
    logger,
    onSuperseded: superseded,
    admit: (peer) => refuseStranger(configuration, peer),
    clientOf: (token) => clientOf(token, clients(), isOpen),
    ...(server !== undefined && { server }),
    ...(secret !== undefined && { secret }),
    ...(tls !== undefined && { tls }),
  });
  return {
    transport,
    part: (client) => {
      for (const peer of transport.peers())
        if (peer.startsWith(client + CLIENT_MARK))
          transport.expel?.(peer, 'the token does not hold any more');
    },
  };
}

/** Whoever may only read does so over HTTP: a socket reaches the desk, which takes jobs. */
function clientOf(
  token: string | undefined,
  clients: readonly NodeClient[] | undefined,
  isOpen: boolean,
): { readonly name: string } | undefined {
  if (clients === undefined) return isOpen ? { name: LOCAL_CLIENT } : undefined;
  if (token === undefined) return undefined;
  const [client] = clients.filter((known) => isSame(known.token, token));
  return client === undefined || client.role === 'reader' ? undefined : { name: client.name };
}

/** In the same time whatever they are, and however long. */
function isSame(one: string, other: string): boolean {
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(one), hash(other));
}

export function isAmong(
  clients: readonly NodeClient[],
  { name, role, token }: NodeClient,
): boolean {
  return clients.some((one) => one.name === name && one.role === role && one.token === token);
}
