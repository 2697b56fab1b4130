/**
 * `escapement/transports`: how frames reach another node, and what an adapter of one's own has
 * to implement.
 *
 * This is a public entry. Importing it connects nothing.
 */

export type {
  PeerIdentity,
  PeerRole,
  ProvedPeer,
  Transport,
  TransportListener,
} from '../runtime/transport.ts';
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
