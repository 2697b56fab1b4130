/**
 * What arrives from peers: frames are opened, envelopes checked once, and handed to the
 * mailboxes, the outboxes that wait for receipts, or the questions that wait for answers.
 *
 * The order is always the same: size, syntax, schema, authority, then what the receiver does about
 * repetitions. A malformed frame is refused whole, a malformed envelope alone; both are counted and,
 * up to so many in a second, logged, and change nothing. A peer that has proved who it is and is
 * malformed too often, says too much, or speaks for somebody else once, is sent away. A receipt goes
 * back once the turn that took a message is durable, or with the reason why none will; without one its
 * sender would try for ever.
 */

import { placeOf } from './address.ts';
import type { Asks } from './asks.ts';
import { Bucket } from './bucket.ts';
import type { Clock } from './clock.ts';
import type { Delivery } from './delivery.ts';
import { type Envelope, FETCH_EVENT, parseEnvelope, parseReceipt } from './envelope.ts';
import {
  type ErrorCode,
  errorFromShape,
  excerpt,
  messageOf,
  RuntimeError,
  withoutStacks,
} from './errors.ts';
import type { Hints } from './hints.ts';
import { REPLY_EVENT } from './machine.ts';
import { message } from './mailbox.ts';
import type { Metrics } from './metrics.ts';
import type { Logger, RuntimeLimits } from './options.ts';
import {
  checkEnvelopeOf,
  checkFences,
  checkHelloOf,
  checkReceiptOf,
  type KnownFences,
} from './peer-authority.ts';
import { PeerConduct } from './peer-conduct.ts';
import type { Peers } from './peers.ts';
import type { Questions } from './questions.ts';
import type { Shard } from './shard.ts';
import type { PeerIdentity, ProvedPeer, Transport } from './transport.ts';
import { decodeFrame, type Frame, type Hello } from './wire.ts';

export interface ArrivalServices {
  readonly place: string;
  readonly clock: Clock;
  readonly limits: RuntimeLimits;
  readonly metrics: Metrics;
  readonly transport: Transport;
  readonly shard: Shard;
  readonly delivery: Delivery;
  readonly hints: Hints;
  readonly peers: Peers;
  readonly asks: Asks;
  readonly questions: Questions;
  readonly logger: Logger;
  /** A peer knows a greater fence of our place. */
  outranked(known: number, isHosted: boolean): void;
  /** XState's persisted snapshot of an actor. */
  persisted(address: string): unknown;
}

export class Arrivals {
  readonly #services: ArrivalServices;
  readonly #conducts = new Map<string, PeerConduct>();
  /** Of every address of our place. */
  readonly #ending: string;
  readonly #logged: Bucket;
  /** Whether the transport proves who peers are: then it also says so before their first frame. */
  #provesPeers = false;

  constructor(services: ArrivalServices) {
    this.#services = services;
    this.#ending = `@${services.place}`;
    this.#logged = new Bucket(services.clock, REFUSALS_LOGGED_PER_SECOND);
  }

  /** What a peer had begun before it was connected is forgotten. */
  connected(peer: string, identity: PeerIdentity | undefined): PeerConduct {
    this.disconnected(peer);
    const conduct = new PeerConduct(peer, identity, this.#services, (stalled) =>
      this.#refuse(stalled, '', new RuntimeError('ENVELOPE_MALFORMED', STALLED)),
    );
    this.#conducts.set(peer, conduct);
    if (identity !== undefined) this.#provesPeers = true;
    return conduct;
  }

  disconnected(peer: string): void {
    this.#conducts.get(peer)?.end();
    this.#conducts.delete(peer);
  }

  frame(peer: string, text: string): void {
    let conduct = this.#conducts.get(peer);
    if (conduct === undefined) {
      // Late words of a connection that is gone: nobody vouches for them any more.
      if (this.#provesPeers) return;
      conduct = this.connected(peer, undefined);
    }
    const interrupted = conduct.interrupted(text);
    if (interrupted !== undefined) this.#refuse(conduct, text, interrupted);
    if (conduct.isExpelled) return;
    try {
      const frame = conduct.open(text);
      if (frame !== undefined) this.#decoded(conduct, decodeFrame(frame));
    } catch (thrown) {
      this.#refuse(conduct, text, thrown);
    }
  }

  #decoded(conduct: PeerConduct, { hello, envelopes, receipts }: Frame): void {
    if (envelopes.length > 0) conduct.spend(envelopes.length);
    if (hello !== undefined) this.#hello(conduct, hello);
    for (const receipt of receipts) {
      if (conduct.isExpelled) return;
      try {
        this.#receipt(conduct, receipt);
      } catch (thrown) {
        this.#refuse(conduct, receipt, thrown);
      }
    }
    // What is refused here is told to the peer, which never sees a stack; to note it takes longer than all the rest.
    withoutStacks(() => {
      for (const envelope of envelopes)
        if (!conduct.isExpelled) this.#envelopeOf(conduct, envelope);
    });
  }

  #envelopeOf(conduct: PeerConduct, envelope: unknown): void {
    try {
      this.#opened(conduct, envelope);
    } catch (thrown) {
      this.#refuse(conduct, envelope, thrown);
      if (!conduct.isExpelled) this.#refused(conduct.node, envelope, thrown);
    }
  }

  #hello({ node: peer, proved }: PeerConduct, hello: Hello): void {
    const { peers, delivery, place } = this.#services;
    if (proved === undefined) checkFences(hello);
    else checkHelloOf(proved, hello, this.#knownFences());
    if (peers.heard(peer, hello.places))
      delivery.resend([...hello.places.map(([claimed]) => claimed), peer]);
    if (hello.isAsking) peers.greet(peer);
    for (const [claimed, known, isHosted] of hello.outranked ?? [])
      if (claimed === place) this.#services.outranked(known, isHosted);
  }

  #knownFences(): KnownFences {
    const { peers, place, shard, limits } = this.#services;
    const fenceOf = (name: string): number =>
      Math.max(peers.fenceOf(name), name === place ? shard.fence : 0);
    return { place, stepMax: limits.fenceStepMax, fenceOf };
  }

  #receipt({ proved }: PeerConduct, value: unknown): void {
    const receipt = parseReceipt(value);
    if (proved !== undefined) checkReceiptOf(proved, receipt);
    this.#services.delivery.receive(receipt);
  }

  #opened({ node, proved }: PeerConduct, value: unknown): void {
    const envelope = parseEnvelope(value);
    if (proved !== undefined) {
      const { kinds } = this.#services.shard;
      checkEnvelopeOf(proved, envelope, (address) => kinds.isClosedToClients(address));
    }
    this.#envelope(node, proved, envelope);
  }

  #envelope(peer: string, proved: ProvedPeer | undefined, envelope: Envelope): void {
    const { shard, asks, peers, questions } = this.#services;
    const { to, from, counter, after, event } = envelope;
    const isOurs = to.endsWith(this.#ending);
    if (peers.isOutranked(peer, placeOf(from)))
      throw new RuntimeError('NOT_HOSTED', `Another node has hosted "${placeOf(from)}" since.`);
    if (event.type === REPLY_EVENT) {
      const { value, error } = event as { value?: unknown; error?: unknown };
      if (!asks.owns(to)) return;
      if (error === undefined) asks.answer(to, value);
      else asks.refuse(to, errorFromShape(error, from));
    } else if (event.type === FETCH_EVENT) {
      this.#answerFetch(envelope);
    } else if (counter === 0) {
      const settle = (error?: Error): void => {
        if (error !== undefined) questions.undelivered(to, event, error as RuntimeError);
      };
      if (isOurs)
        shard.accept(to, message(event, { from, isHint: true, settle }), 'sender', proved);
    } else {
      const settle = (error?: Error): void => {
        const receipt = { from, to, counter };
        peers.sendReceipt(peer, error === undefined ? receipt : { ...receipt, error });
      };
      if (isOurs)
        shard.accept(to, message(event, { from, counter, after, settle }), 'sender', proved);
      else settle(new RuntimeError('NOT_HOSTED', `This node does not host "${placeOf(to)}".`));
    }
  }

  #answerFetch({ to, event }: Envelope): void {
    const { hints, persisted } = this.#services;
    const { replyTo } = event as { replyTo?: unknown };
    if (typeof replyTo !== 'string') return;
    let answer: { readonly value?: unknown; readonly error?: unknown };
    try {
      answer = { value: persisted(to) };
    } catch (error) {
      answer = { error };
    }
    hints.send(to, replyTo, { type: REPLY_EVENT, ...answer });
  }

  /** Tells whoever waits for an answer to an envelope that could not be opened, if that can be seen. */
  #refused(peer: string, envelope: unknown, error: unknown): void {
    const { asks, peers } = this.#services;
    try {
      const { from, to, counter } = parseReceipt(envelope);
      if (asks.owns(to)) asks.refuse(to, error as Error);
      else if (counter > 0) peers.sendReceipt(peer, { from, to, counter, error });
    } catch {
      // Nobody can be named.
    }
  }

  #refuse(conduct: PeerConduct, what: unknown, thrown: unknown): void {
    const { logger, metrics } = this.#services;
    const { node: peer } = conduct;
    const error = messageOf(thrown);
    if (this.#logged.take(1))
      logger.warn({ peer, error, got: excerpt(what) }, 'something from a peer was refused');
    const code = thrown instanceof RuntimeError ? thrown.code : 'INTERNAL';
    if (code === 'PEER_OVERSTEPPED') {
      metrics.peersOverstepped += 1;
      logger.warn({ peer, role: conduct.proved?.role, error }, 'peer overstepped its role');
      this.#expel(conduct, error);
    } else if (code === 'PEER_FLOODED') {
      this.#expel(conduct, error);
    } else if (FAULTS.has(code)) {
      metrics.framesMalformed += 1;
      if (conduct.isTooFaulty()) this.#expel(conduct, error);
    } else {
      metrics.refuse(code);
    }
  }

  #expel(conduct: PeerConduct, reason: string): void {
    const { logger, metrics, transport } = this.#services;
    const { node: peer } = conduct;
    metrics.peersExpelled += 1;
    // Before anybody is told: what is left of its frame is not looked at.
    conduct.end();
    logger.warn({ peer, reason }, 'a peer was sent away');
    transport.expel?.(peer, reason);
  }
}

/** What no release that keeps to the wire version sends. */
const FAULTS: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['ENVELOPE_MALFORMED', 'EVENT_RESERVED']);
/** Beyond it they are only counted. */
const REFUSALS_LOGGED_PER_SECOND = 20;
const STALLED = 'A frame was begun and did not go on.';
