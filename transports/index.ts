/**
 * Entry `escapement/transports`: transports, which carry frames to other nodes, and the interface
 * for an adapter of one's own.
 *
 * This is a public entry. Importing it connects nothing.
 */

export {
  CLIENT_ROLE,
  NODE_ROLE,
  type PeerBounds,
  type PeerRights,
  type PeerRole,
} from '../runtime/ports/peer-role.ts';
export type {
  PeerIdentity,
  ProvedPeer,
  Transport,
  TransportListener,
} from '../runtime/ports/transport.ts';
export {
  type InProcessNetwork,
  type InProcessNetworkOptions,
  inProcessNetwork,
} from './in-process.ts';
export {
  type WebSocketLimits,
  type WebSocketOptions,
  type WebSocketTls,
  type WebSocketTransport,
  websocketTransport,
} from './websocket.ts';
