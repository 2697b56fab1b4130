/**
 * The other nodes: who is connected, which places they host, and the frames to them.
 *
 * What is due to one node is collected for the rest of the tick and sent as one frame,
 * or several of about 32 KiB. It promises nothing: what a lost connection swallowed is
 * sent again by delivery.ts.
 */

import type { Receipt } from './envelope.ts';
import type { Transport } from './transport.ts';
import { encodeFrame, encodeHello, encodeReceipt } from './wire.ts';

const FRAME_BYTES = 32 * 1024;

interface Outgoing {
  envelopes: string[];
  receipts: string[];
  bytes: number;
}

export class Peers {
  readonly #node: string;
  readonly #transport: Transport;
  readonly #places = new Map<string, string>();
  readonly #outgoing = new Map<string, Outgoing>();
  #isFlushPlanned = false;
  #hosted: readonly string[] = [];

  constructor(node: string, transport: Transport) {
    this.#node = node;
    this.#transport = transport;
  }

  /** The node that hosts `place` as far as we know, or the connected node of that name. */
  nodeOf(place: string): string | undefined {
    return this.#places.get(place) ?? (this.#transport.peers().includes(place) ? place : undefined);
  }

  /** Tells everyone which places this node hosts from now on. */
  announce(places: readonly string[]): void {
    this.#hosted = places;
    for (const peer of this.#transport.peers()) this.greet(peer);
  }

  greet(peer: string): void {
    this.#transport.send(peer, encodeHello({ node: this.#node, places: this.#hosted }));
  }

  /** A peer said which places it hosts. */
  heard(peer: string, places: readonly string[]): void {
    this.forget(peer);
    for (const place of places) this.#places.set(place, peer);
  }

  forget(peer: string): void {
    for (const [place, node] of this.#places) if (node === peer) this.#places.delete(place);
  }

  /** False when the node is not connected: then nothing was sent. */
  sendEnvelope(node: string, envelope: string): boolean {
    if (!this.#transport.peers().includes(node)) return false;
    this.#add(node, 'envelopes', envelope);
    return true;
  }

  sendReceipt(node: string, receipt: Receipt): void {
    this.#add(node, 'receipts', encodeReceipt(receipt));
  }

  #add(node: string, list: 'envelopes' | 'receipts', text: string): void {
    const outgoing = this.#outgoing.get(node) ?? { envelopes: [], receipts: [], bytes: 0 };
    this.#outgoing.set(node, outgoing);
    outgoing[list].push(text);
    outgoing.bytes += text.length;
    if (outgoing.bytes >= FRAME_BYTES) this.#send(node, outgoing);
    if (this.#isFlushPlanned) return;
    this.#isFlushPlanned = true;
    queueMicrotask(() => {
      this.#isFlushPlanned = false;
      for (const [peer, waiting] of this.#outgoing) this.#send(peer, waiting);
      this.#outgoing.clear();
    });
  }

  #send(node: string, { envelopes, receipts }: Outgoing): void {
    this.#outgoing.delete(node);
    if (envelopes.length + receipts.length > 0)
      this.#transport.send(node, encodeFrame(envelopes, receipts));
  }
}

/** The transport of a node that has no peers. */
export function noTransport(): Transport {
  return {
    async start() {},
    send: () => false,
    peers: () => [],
    async stop() {},
  };
}
