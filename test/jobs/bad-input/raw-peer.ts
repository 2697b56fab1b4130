/**
 * A node of a cluster's network that says what it wants: frames written by hand, over the real wire.
 *
 * It says who it is and what it hosts, as every node does, and then sends whatever a test gives it;
 * what comes back, receipts with refusals and what it is sent, is written down. It receipts
 * everything, so that nobody tries for ever.
 */

import { decodeFrame, encodeFrame, encodeHello } from '../../../runtime/delivery/frame.ts';
import type { PeerIdentity } from '../../../runtime/ports/transport.ts';
import type { Cluster } from '../cluster.ts';

interface Received {
  readonly to: string;
  readonly from: string;
  readonly counter: number;
  readonly event: { readonly type: string; readonly [field: string]: unknown };
}

interface Receipt {
  readonly from: string;
  readonly to: string;
  readonly counter: number;
  readonly error?: { readonly code: string; readonly message: string };
}

export interface Refusal {
  readonly code: string;
  readonly message: string;
}

export class RawPeer {
  readonly node: string;
  /** Everything that was sent here. */
  readonly heard: Received[] = [];
  readonly #cluster: Cluster;
  readonly #transport: ReturnType<Cluster['network']['join']>;
  readonly #places: ReadonlyArray<readonly [string, number]>;
  readonly #receipts: Receipt[] = [];
  /** By sender and receiver: the counter of the last message. */
  readonly #last = new Map<string, number>();
  /** Above all that anybody who had the name before has sent, from a moment on: those would be known already. */
  #count = 4_000_000_000_000;

  constructor(cluster: Cluster, node: string, places: ReadonlyArray<readonly [string, number]>) {
    this.node = node;
    this.#cluster = cluster;
    this.#places = places;
    this.#transport = cluster.network.join(node);
  }

  /** Joins the network of a cluster under that name, and is known to everybody; without an identity it is trusted. */
  static async join(
    cluster: Cluster,
    node: string,
    places: ReadonlyArray<readonly [string, number]> = [[node, 1]],
    identity?: PeerIdentity,
  ): Promise<RawPeer> {
    cluster.passport.admit(node, identity);
    const peer = new RawPeer(cluster, node, places);
    await peer.#start();
    await cluster.time.runFor(500);
    return peer;
  }

  stop(): Promise<void> {
    return this.#transport.stop();
  }

  /** Sends an event from one of its own actors and resolves with the refusal, if there was one. */
  async send(from: string, to: string, event: object): Promise<Refusal | undefined> {
    const pair = `${from} ${to}`;
    const after = this.#last.get(pair) ?? 0;
    this.#count += 1;
    const counter = this.#count;
    const envelope = JSON.stringify({ to, from, counter, after, event });
    this.#broadcast(encodeFrame([envelope], []));
    await this.#cluster.time.runFor(300);
    const receipt = this.#receipts.find((one) => one.counter === counter && one.to === to);
    if (receipt === undefined) throw new Error(`Nobody said the outcome of ${envelope}.`);
    if (receipt.error === undefined) this.#last.set(pair, counter);
    return receipt.error;
  }

  /** Asks an actor; resolves with its answer, or with why it refused to take the question. */
  async ask(to: string, question: object): Promise<unknown> {
    const replyTo = `ask/${this.#count + 1}@${this.node}`;
    const refusal = await this.send(`session:raw@${this.node}`, to, { ...question, replyTo });
    if (refusal !== undefined) return refusal;
    const reply = this.heard.find((message) => message.to === replyTo);
    if (reply === undefined) throw new Error(`Nobody answered ${JSON.stringify(question)}.`);
    const { value, error } = reply.event as { value?: unknown; error?: unknown };
    return error ?? value;
  }

  /** Sends an event that nobody answers for. */
  async hint(from: string, to: string, event: object): Promise<void> {
    this.#broadcast(encodeFrame([JSON.stringify({ to, from, counter: 0, after: 0, event })], []));
    await this.#cluster.time.runFor(300);
  }

  /** Sends any text as a frame. */
  async frame(text: string): Promise<void> {
    this.#broadcast(text);
    await this.#cluster.time.runFor(300);
  }

  heardBy(address: string, type: string): Received['event'][] {
    return this.heard
      .filter(({ to, event }) => to === address && event.type === type)
      .map(({ event }) => event);
  }

  /** To everybody: anybody who does not host the place says so, and does not count. */
  #broadcast(frame: string): void {
    for (const peer of this.#transport.peers()) this.#transport.send(peer, frame);
  }

  #start(): Promise<void> {
    const { node } = this;
    const hello = encodeHello({ node, places: this.#places, isAsking: true });
    return this.#transport.start({
      peerUp: (peer) => void this.#transport.send(peer, hello),
      peerDown: () => {},
      frameReceived: (peer, text) => {
        const { envelopes, receipts } = decodeFrame(text);
        this.#receipts.push(...(receipts as Receipt[]).filter(isAboutUs));
        for (const envelope of envelopes as Received[]) {
          this.heard.push(envelope);
          const { from, to, counter } = envelope;
          if (counter > 0)
            this.#transport.send(peer, encodeFrame([], [JSON.stringify({ from, to, counter })]));
        }
      },
    });
  }
}

/** Nodes that do not host the receiver say so; the node that does says what counts. */
const isAboutUs = ({ error }: Receipt): boolean => error?.code !== 'NOT_HOSTED';
