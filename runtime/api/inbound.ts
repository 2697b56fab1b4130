/**
 * Arrivals from peers: frames are opened, envelopes checked once and handed to the mailboxes, the outboxes
 * that wait for receipts, or the questions that wait for answers.
 *
 * The order is always the same: size, syntax, schema, authority, then what the receiver does about
 * repetitions. A malformed frame is refused whole, a malformed envelope alone; both are counted and, up to a
 * limited number in a second, logged, and change nothing. A peer that has proved who it is and is malformed
 * too often, says too much, or speaks for somebody else once, is disconnected. A receipt goes back once the
 * turn that took a message is durable, or with the reason why no turn will; without a receipt its sender
 * would try for ever.
 */

import { message } from '../actor.ts';
import { placeOf } from '../base/address.ts';
import {
  type ErrorCode,
  errorFromShape,
  excerpt,
  messageOf,
  RuntimeError,
  withoutStacks,
} from '../base/errors.ts';
import type { Inspection } from '../base/inspection.ts';
import type { Logger, RuntimeLimits } from '../base/limits.ts';
import type { Metrics } from '../base/metrics.ts';
import { Bucket } from '../base/token-bucket.ts';
import type { Asks, Delivery, Hints, Peers, Routes } from '../delivery.ts';
import {
  checkEnvelopeOf,
  checkFences,
  checkHelloOf,
  checkReceiptOf,
  decodeFrame,
  type Envelope,
  FETCH_EVENT,
  type Frame,
  type Hello,
  type KnownFences,
  PeerConduct,
  parseEnvelope,
  parseReceipt,
} from '../delivery.ts';
import type { Questions } from '../effects.ts';
import { REPLY_EVENT } from '../machine.ts';
import type { Clock } from '../ports/clock.ts';
import type { PeerIdentity, ProvedPeer, Transport } from '../ports/transport.ts';
import type { Shard } from '../shard.ts';
import type { Reads } from './reads.ts';
import type { Watches } from './watches.ts';

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
  readonly inspection: Inspection;
  readonly questions: Questions;
  readonly logger: Logger;
  /** A peer knows a greater fence of our place. */
  outranked(known: number, isHosted: boolean): void;
  readonly reads: Reads;
  readonly routes: Routes;
  readonly watches: Watches;
}

export class Arrivals {
  readonly #services: ArrivalServices;
  readonly #conducts = new Map<string, PeerConduct>();
  /** Ending of every address of our place. */
  readonly #ending: string;
  readonly #logged: Bucket;
  /** True if the transport proves who peers are: then it also says so before their first frame. */
  #provesPeers = false;

  constructor(services: ArrivalServices) {
    this.#services = services;
    this.#ending = `@${services.place}`;
    this.#logged = new Bucket(services.clock, REFUSALS_LOGGED_PER_SECOND);
  }

  /** Forgets what a peer had begun before it was connected. */
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
    const { peers, delivery, watches, place } = this.#services;
    if (proved === undefined) checkFences(hello);
    else checkHelloOf(proved, hello, this.#knownFences());
    if (peers.heard(peer, hello.places)) {
      const places = [...hello.places.map(([claimed]) => claimed), peer];
      delivery.resend(places);
      watches.review([...places, place]);
    }
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
    const { shard, asks, watches, peers } = this.#services;
    const { to, from, counter, after, ageMs, event } = envelope;
    const isOurs = to.endsWith(this.#ending);
    if (peers.isOutranked(peer, placeOf(from))) {
      this.#tellFenced(envelope);
      throw new RuntimeError('NOT_HOSTED', `Another node has hosted "${placeOf(from)}" since.`);
    }
    if (event.type === REPLY_EVENT) {
      const { value, error } = event as { value?: unknown; error?: unknown };
      if (watches.owns(to)) watches.answered(to, from, peer, value, error);
      else if (!asks.owns(to)) return;
      else if (error === undefined) asks.answer(to, value);
      else asks.refuse(to, errorFromShape(error, from));
    } else if (event.type === FETCH_EVENT) {
      this.#services.reads.answer(peer, envelope);
    } else if (counter === 0) {
      const settle = (error?: Error): void => {
        if (error !== undefined) this.#undelivered(envelope, error as RuntimeError, proved);
      };
      if (isOurs)
        shard.accept(to, message(event, { from, isHint: true, settle }), 'sender', proved);
    } else {
      const settle = (error?: Error): void => {
        const receipt = { from, to, counter };
        peers.sendReceipt(peer, error === undefined ? receipt : { ...receipt, error });
      };
      if (isOurs && shard.isHosting)
        shard.accept(to, message(event, { from, counter, after, ageMs, settle }), 'sender', proved);
      else settle(this.#services.routes.notHosted(placeOf(to)));
    }
  }

  #tellFenced({ from, counter, to, event: { type } }: Envelope): void {
    const { inspection } = this.#services;
    if (inspection.hasReaders)
      inspection.tell({ type: 'messageFenced', from, counter, to, event: { type } });
  }

  /** Tells the sender of a refused hint so where it asked, or where the kind of an actor that is not there answers. */
  #undelivered(
    { to, from, event }: Envelope,
    error: RuntimeError,
    peer: ProvedPeer | undefined,
  ): void {
    const { questions, shard, hints } = this.#services;
    questions.undelivered(to, event, error);
    if (error.code !== 'ACTOR_UNKNOWN') return;
    const answer = shard.kinds.of(to).options.absent?.({ to, from, event, peer });
    if (answer !== undefined) hints.send(to, from, answer);
  }

  /**
   * Tells the caller that waits for an answer to an envelope that could not be opened, if that can be
   * seen.
   */
  #refused(peer: string, envelope: unknown, error: unknown): void {
    const { asks, watches, peers } = this.#services;
    try {
      const { from, to, counter } = parseReceipt(envelope);
      if (watches.owns(to)) watches.answered(to, from, peer, undefined, error);
      else if (asks.owns(to)) asks.refuse(to, error as Error);
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

/** Faults that no release commits if it keeps to the wire version. */
const FAULTS: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['ENVELOPE_MALFORMED', 'EVENT_RESERVED']);
/** Refusals beyond this are only counted. */
const REFUSALS_LOGGED_PER_SECOND = 20;
const STALLED = 'A frame was begun and did not go on.';
