/**
 * Frames between nodes, best effort.
 *
 * Guarantees of every transport: frames of one connection arrive in the order
 * they were sent, whole or not at all; nothing is delivered inside the call to
 * `send`. It promises no delivery: reliability (outbox, acknowledgement,
 * deduplication) is built above it in delivery.ts, so that every transport
 * behaves alike. A frame is text; transports do not look inside.
 */

export interface Transport {
  /** Starts accepting frames and connecting to peers. Called once. */
  start(listener: TransportListener): Promise<void>;
  /** Hands a frame over; false when `node` is not connected and the frame was dropped. */
  send(node: string, frame: string): boolean;
  /** The nodes that are connected now. */
  peers(): readonly string[];
  /** Closes all connections; nothing is delivered afterwards. */
  stop(): Promise<void>;
}

export interface TransportListener {
  peerUp(node: string): void;
  peerDown(node: string): void;
  frameReceived(node: string, frame: string): void;
}
