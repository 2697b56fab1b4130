/**
 * Frames over the channel between a process and the child it started.
 *
 * Guarantees what every transport does. The channel may close at any moment, also in the middle
 * of a `send`: what was handed over then is lost, and `peerDown` is told once. The owner of the
 * channel attaches it, passes on what it receives, and detaches it; this knows nodes only.
 */

import type { Transport, TransportListener } from '../../runtime/ports/transport.ts';

/** Hands text to the other side; never throws, and may lose it. */
export type Post = (frame: string) => void;

export class ChannelTransport implements Transport {
  readonly #peers = new Map<string, Post>();
  #listener: TransportListener | undefined;

  async start(listener: TransportListener): Promise<void> {
    this.#listener = listener;
    for (const node of this.#peers.keys()) listener.peerUp(node);
  }

  send(node: string, frame: string): boolean {
    const post = this.#peers.get(node);
    post?.(frame);
    return post !== undefined;
  }

  peers(): readonly string[] {
    return [...this.#peers.keys()];
  }

  async stop(): Promise<void> {
    this.#listener = undefined;
    this.#peers.clear();
  }

  attach(node: string, post: Post): void {
    this.#peers.set(node, post);
    this.#listener?.peerUp(node);
  }

  /** A frame came through the channel. */
  receive(node: string, frame: string): void {
    if (this.#peers.has(node)) this.#listener?.frameReceived(node, frame);
  }

  detach(node: string): void {
    if (this.#peers.delete(node)) this.#listener?.peerDown(node);
  }
}
