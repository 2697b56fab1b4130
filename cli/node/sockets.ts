/**
 * Sockets of a node: who it says it is, whom it dials, and which clients may come.
 */

import { createHash, timingSafeEqual } from 'node:crypto';
import type { Server } from 'node:http';
import type { Server as TlsServer } from 'node:https';
import { JOBS_ROLES } from '../../programs/jobs/peer-roles.ts';
import type { Logger } from '../../runtime/base/limits.ts';
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
  readonly namesake: () => void;
}

/** Name of a client that comes without a token where there are none. */
const LOCAL_CLIENT = 'local';

/** @throws {RuntimeError} OPTION_INVALID */
export function openSockets(
  configuration: NodeConfiguration,
  { server, clients, logger, superseded, namesake }: SocketParts,
): WebSocketTransport {
  const { node, role, place, listen, peers, secret, secrets, tls, limits } = configuration;
  const isOpen = listen !== undefined && isLoopback(listen.host);
  return websocketTransport({
    node,
    role,
    roles: JOBS_ROLES,
    place,
    peers,
    limits: limits.sockets,
    logger,
    onSuperseded: superseded,
    onNamesake: namesake,
    admit: (peer) => refuseStranger(configuration, peer),
    clientOf: (token) => clientOf(token, clients(), isOpen),
    ...(server !== undefined && { server }),
    ...(secret !== undefined && { secret }),
    ...(secrets !== undefined && { secrets }),
    ...(tls !== undefined && { tls }),
  });
}

/** Client by its token. What it may do there is asked at each question. */
function clientOf(
  token: string | undefined,
  clients: readonly NodeClient[] | undefined,
  isOpen: boolean,
): { readonly name: string } | undefined {
  if (clients === undefined) return isOpen ? { name: LOCAL_CLIENT } : undefined;
  if (token === undefined) return undefined;
  const [client] = clients.filter((known) => isSame(known.token, token));
  return client && { name: client.name };
}

/** True when both are the same; it takes the same time whatever they are, and however long. */
function isSame(one: string, other: string): boolean {
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(one), hash(other));
}
