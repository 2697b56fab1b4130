/**
 * Peers: the other nodes that are connected, the places they host, and the frames to them.
 *
 * Messages due to one node are collected for the rest of the tick and sent as one frame, or as several of
 * about 32 KiB; a frame that is larger than the peer takes is sent in fragments. It promises nothing: what a
 * lost connection swallowed is sent again by delivery.ts. Of two nodes that claim a place the one with the
 * higher fence is believed, in whatever order they were heard.
 *
 * A node that claims a place under too low a fence is told so by the nodes that may host the same place, and
 * by all nodes where none proves who it is. Others only hold the greater fence against it: until the node
 * that claimed it claims less in a later connection, as after the restoring of an old copy, or has been gone
 * for a while.
 */

import type { OutboxRow } from '../actor.ts';
import { messageOf } from '../base/errors.ts';
import { knob } from '../base/knob.ts';
import type { Logger, RuntimeLimits } from '../base/limits.ts';
import type { Cancel, Clock } from '../ports/clock.ts';
import type { Transport } from '../ports/transport.ts';
import type { Receipt } from './envelope.ts';
import { cutFrame, isLonger } from './fragments.ts';
import { encodeHello, type HostedPlace, type OutrankedPlace } from './frame.ts';
import { Outgoing } from './outgoing.ts';

const FRAME_LENGTH = knob('frameLength', 32 * 1024);

/** Places whose greatest fence is remembered; beyond it the one heard of longest ago is forgotten. */
const PLACES_REMEMBERED = knob('placesRemembered', 10_000);

/** Memory of the fences of other nodes. */
export interface FenceMemory {
  /** The place of this node. */
  readonly place: string;
  readonly clock: Clock;
  readonly limits: Pick<RuntimeLimits, 'fenceMemoryMs'>;
}

interface HeardFence {
  readonly fence: number;
  readonly node: string;
  /** Set while that node is not connected: it will be forgotten. */
  forgetting?: Cancel;
}

export class Peers {
  readonly #node: string;
  readonly #transport: Transport;
  readonly #logger: Logger;
  /** Places that each connected node says it hosts. */
  readonly #claims = new Map<string, ReadonlyMap<string, number>>();
  /** The greatest fence heard of, by place. */
  readonly #highest = new Map<string, HeardFence>();
  readonly #memory: FenceMemory | undefined;
  /** Peers that have proved who they are. */
  readonly #proved = new Set<string>();
  /** Host of each place, by what all of them said. */
  #routes = new Map<string, string>();
  #outgoing = new Map<string, Outgoing>();
  #isFlushPlanned: boolean = false;
  #hosted: readonly HostedPlace[] = [];
  #framesCut = 0;

  constructor(node: string, transport: Transport, logger: Logger, memory?: FenceMemory) {
    this.#memory = memory;
    this.#node = node;
    this.#transport = transport;
    this.#logger = logger;
  }

  /** The node that hosts `place` as far as we know, or the connected node of that name. */
  nodeOf(place: string): string | undefined {
    return this.#routes.get(place) ?? (this.#claims.has(place) ? place : undefined);
  }

  /** The places that connected nodes say they host, and their names. */
  places(): readonly string[] {
    return [...new Set([...this.#routes.keys(), ...this.#claims.keys()])].sort();
  }

  /** Tells everyone which places this node hosts from now on. */
  announce(places: readonly HostedPlace[]): void {
    this.#hosted = places;
    for (const peer of this.#transport.peers()) this.greet(peer);
  }

  greet(peer: string, isAsking: boolean = false): void {
    const hello = { node: this.#node, places: this.#hosted, isAsking };
    const outranked = this.#outranked(peer);
    this.#hand(peer, encodeHello(outranked.length === 0 ? hello : { ...hello, outranked }));
  }

  /** True when this peer claims the place under a fence lower than one that was heard of. */
  isOutranked(peer: string, place: string): boolean {
    const fence = this.#claims.get(peer)?.get(place);
    return fence !== undefined && fence < this.fenceOf(place);
  }

  /** Asks everyone what they host. */
  inquire(): void {
    for (const peer of this.#transport.peers()) this.greet(peer, true);
  }

  /** `isProved`: it has proved who it is, and asks the same of others. */
  connected(peer: string, isProved: boolean = false): void {
    if (isProved) this.#proved.add(peer);
    if (!this.#claims.has(peer)) this.#claims.set(peer, new Map());
    this.greet(peer);
  }

  disconnected(peer: string): void {
    for (const [place, heard] of this.#highest)
      if (heard.node === peer) this.#forgetLater(place, heard);
    this.#proved.delete(peer);
    this.#claims.delete(peer);
    this.#outgoing.delete(peer);
    this.#routes = this.#chosen();
  }

  /** A peer said which places it hosts. True when messages go another way since. */
  heard(peer: string, places: readonly HostedPlace[]): boolean {
    const isNew = !this.#claims.has(peer);
    this.#claims.set(peer, new Map(places));
    for (const [place, fence] of places) {
      if (fence > this.fenceOf(place) || this.#isNewLife(peer, place))
        this.#note(place, fence, peer);
      else this.#alarm(peer, place, fence);
    }
    const before = this.#routes;
    this.#routes = this.#chosen();
    if (this.#outranked(peer).length > 0) this.greet(peer);
    return isNew || !isSame(before, this.#routes);
  }

  /** Stops forgetting. */
  stop(): void {
    for (const { forgetting } of this.#highest.values()) forgetting?.();
  }

  /** True while a peer takes frames more slowly than they are sent. */
  isCongested(node: string): boolean {
    return this.#transport.isCongested?.(node) === true;
  }

  /** Best effort: a node that is not connected gets nothing. */
  sendEnvelope(node: string, envelope: string): void {
    this.#outgoingTo(node, envelope.length)?.addEnvelope(envelope);
  }

  /** A message of an outbox; as above. */
  sendRow(node: string, from: string, row: OutboxRow, after: number, ageMs: number): void {
    this.#outgoingTo(node, row.text.length)?.addRow(from, row, after, ageMs);
  }

  sendReceipt(node: string, receipt: Receipt): void {
    this.#outgoingTo(node, 0)?.addReceipt(receipt);
  }

  /** The greatest fence heard of for a place; also of holders that are gone. */
  fenceOf(place: string): number {
    return this.#highest.get(place)?.fence ?? 0;
  }

  #note(place: string, fence: number, node: string): void {
    this.#forget(place);
    this.#highest.set(place, { fence, node });
    if (this.#highest.size <= PLACES_REMEMBERED.value) return;
    for (const oldest of this.#highest.keys()) {
      this.#forget(oldest);
      return;
    }
  }

  #forget(place: string): void {
    this.#highest.get(place)?.forgetting?.();
    this.#highest.delete(place);
  }

  /** The node that claimed the greatest fence claims the place in a connection made since. */
  #isNewLife(peer: string, place: string): boolean {
    const heard = this.#highest.get(place);
    return heard?.forgetting !== undefined && heard.node === peer;
  }

  /** Forgets a fence after a pause, except of a place whose holders are told: they go above it themselves. */
  #forgetLater(place: string, heard: HeardFence): void {
    if (this.#memory === undefined || this.#isHeeded(heard.node, place)) return;
    const { clock, limits } = this.#memory;
    heard.forgetting?.();
    heard.forgetting = clock.schedule(clock.now() + limits.fenceMemoryMs, () => {
      this.#highest.delete(place);
      // Its host may have been refused until now: the answers choose the routes again.
      this.inquire();
    });
  }

  /** True if this peer believes this node that the place is outranked. */
  #isHeeded(peer: string, place: string): boolean {
    return !this.#proved.has(peer) || place === this.#memory?.place;
  }

  #outranked(peer: string): OutrankedPlace[] {
    const places = [...(this.#claims.get(peer) ?? [])].filter(
      ([place]) => this.#isHeeded(peer, place) && this.isOutranked(peer, place),
    );
    return places.map(([place]) => [place, this.fenceOf(place), this.#routes.has(place)]);
  }

  /**
   * Chooses the hosts. Under one fence only one node hosts a place: of two that say so, the first is
   * believed.
   */
  #chosen(): Map<string, string> {
    const routes = new Map<string, string>();
    const fences = new Map<string, number>();
    for (const [peer, claim] of this.#claims) {
      for (const [place, fence] of claim) {
        const best = fences.get(place);
        if (fence < (best ?? this.fenceOf(place))) continue;
        if (fence === best && this.#routes.get(place) !== peer) continue;
        fences.set(place, fence);
        routes.set(place, peer);
      }
    }
    return routes;
  }

  /** Either the lease has failed, or somebody lies. */
  #alarm(peer: string, place: string, fence: number): void {
    const node = this.#routes.get(place);
    if (node === undefined || node === peer || this.#claims.get(node)?.get(place) !== fence) return;
    this.#logger.error({ place, fence, node, peer }, 'two nodes claim a place under one fence');
  }

  /** The next frame to a node, with room for `length` characters more; undefined when nobody is there. */
  #outgoingTo(node: string, length: number): Outgoing | undefined {
    const outgoing = this.#outgoing.get(node);
    if (outgoing !== undefined && outgoing.length + length <= FRAME_LENGTH.value) return outgoing;
    // Not worth collecting.
    if (outgoing === undefined && !this.#claims.has(node)) return undefined;
    if (outgoing !== undefined && outgoing.length > 0) this.#hand(node, outgoing.encode());
    const next = new Outgoing();
    this.#outgoing.set(node, next);
    this.#planFlush();
    return next;
  }

  #planFlush(): void {
    if (this.#isFlushPlanned) return;
    this.#isFlushPlanned = true;
    queueMicrotask(() => {
      this.#isFlushPlanned = false;
      const all = this.#outgoing;
      this.#outgoing = new Map();
      for (const [peer, outgoing] of all) this.#hand(peer, outgoing.encode());
    });
  }

  #hand(node: string, frame: string): void {
    try {
      const bytesMax = this.#transport.frameBytesMax?.(node);
      if (bytesMax === undefined || !isLonger(frame, bytesMax)) {
        this.#transport.send(node, frame);
        return;
      }
      this.#framesCut += 1;
      const fragments = cutFrame(frame, this.#framesCut, bytesMax);
      if (this.#transport.sendTogether !== undefined) this.#transport.sendTogether(node, fragments);
      else fragments.every((fragment) => this.#transport.send(node, fragment));
    } catch (thrown) {
      this.#logger.error({ peer: node, error: messageOf(thrown) }, 'a frame could not be sent');
    }
  }
}

function isSame(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean {
  if (a.size !== b.size) return false;
  for (const [place, node] of a) if (b.get(place) !== node) return false;
  return true;
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
