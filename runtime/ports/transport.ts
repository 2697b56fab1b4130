/**
 * Transport of frames between nodes, best effort.
 *
 * Guarantees of every transport: frames of one connection arrive in the order
 * they were sent, whole or not at all; nothing is delivered inside the call to
 * `send`. It promises no delivery: reliability (outbox, acknowledgement,
 * deduplication) is built above it in delivery.ts, so that every transport
 * behaves alike. A frame is text; transports do not look inside.
 *
 * A transport that reaches out of the process proves who is at the other end, and says so:
 * what such a peer says for somebody else is refused in arrivals.ts.
 */

import { RuntimeError } from '../base/errors.ts';
import type { PeerRights } from './peer-role.ts';

export interface Transport {
  /** The node it was made for, where it knows. */
  readonly node?: string;
  /** URL at which peers reach this node, while it listens and knows. */
  readonly url?: string | undefined;
  /** Identity that this node proves to its peers; nothing where all nodes trust each other. */
  readonly own?: ProvedPeer;
  /** Starts accepting frames and connecting to peers. Called once. */
  start(listener: TransportListener): Promise<void>;
  /** Hands a frame over; false when `node` is not connected and the frame was dropped. */
  send(node: string, frame: string): boolean;
  /** Hands over frames that are worth nothing without each other: all or none. Default: one by one. */
  sendTogether?(node: string, frames: readonly string[]): boolean;
  /** The nodes that are connected now. */
  peers(): readonly string[];
  /** Closes all connections; nothing is delivered afterwards. */
  stop(): Promise<void>;
  /** Bytes of the largest frame that this peer takes; what is larger is cut by wire.ts. Default: no limit. */
  frameBytesMax?(node: string): number;
  /** True while a peer takes frames more slowly than they are sent: hints to it may be left out. */
  isCongested?(node: string): boolean;
  /** Ends the connection of a peer that breaks the rules, and keeps it away for a while. */
  expel?(node: string, reason: string): void;
}

export interface TransportListener {
  /** `identity`: who the peer has proved to be; nothing where all nodes trust each other, as in one process. */
  peerUp(node: string, identity?: PeerIdentity): void;
  peerDown(node: string): void;
  frameReceived(node: string, frame: string): void;
}

export interface PeerIdentity {
  /** Name of its role, as the program has declared it. */
  readonly role: string;
  readonly rights: PeerRights;
  /** The place for whose actors the peer may speak, besides the one of its own name. */
  readonly place: string;
}

/** True if it hosts that place, or stands by for it. */
export function isHostOf({ rights, place }: PeerIdentity, name: string): boolean {
  return place === name && rights.hostsPlace;
}

/** A peer that has proved to be this node. */
export interface ProvedPeer extends PeerIdentity {
  readonly node: string;
}

/**
 * Refuses a transport that this node cannot use: peers would take what it says for somebody else's, and send
 * it away. They let a peer speak for its own name, and for the place that it hosts in its role.
 *
 * @throws {RuntimeError} OPTION_INVALID
 */
export function checkTransport(transport: Transport, node: string, place: string): void {
  const mismatch = mismatchOf(transport, node, place);
  if (mismatch !== undefined) throw new RuntimeError('OPTION_INVALID', `Transport: ${mismatch}.`);
}

/** Error of a transport that is started again, as by a second runtime: each has one of its own. */
export function startedOnce(node: string): RuntimeError {
  const what = `The transport of node "${node}" can be started once. Give each runtime one of its own.`;
  return new RuntimeError('OPTION_INVALID', what);
}

function mismatchOf(
  { own, node: madeFor = own?.node }: Transport,
  node: string,
  place: string,
): string | undefined {
  if (madeFor !== undefined && madeFor !== node)
    return `the runtime is node "${node}", its transport is made for "${madeFor}": give both the same "node"`;
  if (own === undefined || place === node || isHostOf(own, place)) return undefined;
  const { role } = own;
  return `the runtime hosts the place "${place}", its transport proves ${role} of "${own.place}": give both the same "place", and a role that hosts one`;
}
