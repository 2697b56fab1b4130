/**
 * Door of `delivery/`: messages between actors and nodes, the peers, and what these may say.
 */

export { type AskOptions, Asks, abortError } from './delivery/asks.ts';
export { Delivery } from './delivery/delivery.ts';
export type { DeliveryOwner } from './delivery/delivery-ports.ts';
export {
  type Envelope,
  FETCH_EVENT,
  INSPECT_QUESTION,
  parseEnvelope,
  parseReceipt,
  type Receipt,
} from './delivery/envelope.ts';
export { decodeFrame, encodeFrame, encodeHello, type Frame, type Hello } from './delivery/frame.ts';
export { Hints } from './delivery/hints.ts';
export { Newcomers } from './delivery/newcomers.ts';
export {
  checkEnvelopeOf,
  checkFences,
  checkHelloOf,
  checkReceiptOf,
  type KnownFences,
} from './delivery/peer-authority.ts';
export { PeerConduct } from './delivery/peer-conduct.ts';
export { noTransport, Peers } from './delivery/peers.ts';
export { Routes } from './delivery/routes.ts';
export { Session } from './delivery/session.ts';
export type { WaitingPlace } from './delivery/silence.ts';
