/**
 * Links to connected nodes: at most one for each, and the news of it.
 *
 * Guarantees: `peerUp` and `peerDown` alternate for each node, and every frame is between them. Of two starts
 * of one node the later one stays, of two connections made at the same time that which the node with the
 * smaller name dialled. The greatest boot epoch of a node is remembered after it is gone, so that an older
 * start does not come back in its place.
 */

import { messageOf } from '../../runtime/base/errors.ts';
import type { Logger } from '../../runtime/base/limits.ts';
import type { Clock } from '../../runtime/ports/clock.ts';
import type { TransportListener } from '../../runtime/ports/transport.ts';
import { identityOf, type KnownClaim } from './claim.ts';
import { CLOSE, type Link } from './link.ts';

/** Nodes whose boot epoch is remembered; beyond it the one seen longest ago is forgotten. */
const EPOCHS_MAX = 10_000;

export interface LinksServices {
  readonly own: KnownClaim;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Time in which two handshakes can cross each other. */
  readonly handshakeMs: number;
  readonly bootAheadMaxMs: number;
  changed(node: string, isUp: boolean): void;
}

export class Links {
  readonly #services: LinksServices;
  readonly #byNode = new Map<string, Link>();
  readonly #epochs = new Map<string, number>();
  /** Nodes that our own dialling is proving itself to, and how to break it off. */
  readonly #proving = new Map<string, () => void>();
  #listener: TransportListener | undefined;

  constructor(services: LinksServices) {
    this.#services = services;
  }

  listen(listener: TransportListener): void {
    this.#listener = listener;
  }

  /** Tells nothing from now on. */
  mute(): void {
    this.#listener = undefined;
  }

  get(node: string): Link | undefined {
    return this.#byNode.get(node);
  }

  get size(): number {
    return this.#byNode.size;
  }

  all(): Link[] {
    return [...this.#byNode.values()];
  }

  clients(): string[] {
    return this.all().flatMap(({ peer }) => (peer.rights.isClient ? [peer.node] : []));
  }

  nodes(): string[] {
    return [...this.#byNode.keys()];
  }

  /** True if a later start of that node has been connected. */
  isSuperseded({ node, bootEpoch }: KnownClaim): boolean {
    return bootEpoch < (this.#epochs.get(node) ?? 0);
  }

  /** Reason why a start is not believed: it would keep every true one out until the clock has passed it. */
  refusalOfEpoch({ bootEpoch }: KnownClaim): string | undefined {
    const { clock, bootAheadMaxMs } = this.#services;
    const aheadMs = bootEpoch - clock.now();
    return aheadMs > bootAheadMaxMs
      ? 'the boot epoch is too far ahead of the clock here'
      : undefined;
  }

  /** True if this start of this node was ever connected to that one. */
  hasMet(node: string): boolean {
    return this.#epochs.has(node);
  }

  /** Reason why a node that dials this one cannot have a link now, if there is one. */
  refusalOfCaller(caller: KnownClaim): string | undefined {
    const { own, clock, handshakeMs } = this.#services;
    if (this.isSuperseded(caller))
      return `a later start of that node is known (${this.#epochs.get(caller.node)})`;
    const isOurs = own.node < caller.node;
    if (isOurs && this.#proving.has(caller.node)) return 'this node is dialling you';
    const link = this.#byNode.get(caller.node);
    if (link === undefined || caller.bootEpoch > link.peer.bootEpoch || !link.isDialled) return;
    // Either they crossed, or the caller has lost a link that still looks well from here.
    const mayHaveCrossed = clock.now() - link.openedAt < handshakeMs;
    return isOurs && mayHaveCrossed ? 'this node has dialled you' : undefined;
  }

  /** Reason why dialling this node should not go on, if there is one. */
  refusalOfListener(listener: KnownClaim): string | undefined {
    if (listener.node === this.#services.own.node) return 'that is this node';
    if (this.isSuperseded(listener)) return 'a later start of it is known';
    const link = this.#byNode.get(listener.node);
    if (link !== undefined && link.peer.bootEpoch >= listener.bootEpoch) return 'already connected';
    return this.#proving.has(listener.node) ? 'already dialling' : undefined;
  }

  /** Counts this node as dialling that one, from now until `doneProving`. */
  proving(node: string, breakOff: () => void): void {
    this.#proving.set(node, breakOff);
  }

  doneProving(node: string, breakOff: () => void): void {
    if (this.#proving.get(node) === breakOff) this.#proving.delete(node);
  }

  open(link: Link): void {
    const { node, role, place, rights, bootEpoch } = link.peer;
    if (!link.isDialled) this.#proving.get(node)?.();
    const older = this.#byNode.get(node);
    if (!rights.isClient) this.#remember(node, bootEpoch);
    if (older !== undefined && this.isSuperseded(older.peer))
      older.close(CLOSE.superseded, 'a later start of this node is here');
    else older?.close(CLOSE.replaced, 'another connection of this node stays');
    this.#byNode.set(node, link);
    this.#services.logger.debug({ peer: node, role, place }, 'a peer is connected');
    this.#tell(() => this.#listener?.peerUp(node, identityOf(link.peer)));
    this.#services.changed(node, true);
  }

  /** Harmless for a link that another one has replaced. */
  closed(link: Link): void {
    const { node } = link.peer;
    if (this.#byNode.get(node) !== link) return;
    this.#byNode.delete(node);
    this.#services.logger.debug({ peer: node }, 'a peer is no longer connected');
    this.#tell(() => this.#listener?.peerDown(node));
    this.#services.changed(node, false);
  }

  frameReceived(link: Link, frame: string): void {
    if (this.#byNode.get(link.peer.node) !== link) return;
    this.#tell(() => this.#listener?.frameReceived(link.peer.node, frame));
  }

  #remember(node: string, bootEpoch: number): void {
    this.#epochs.delete(node);
    this.#epochs.set(node, bootEpoch);
    if (this.#epochs.size <= EPOCHS_MAX) return;
    for (const oldest of this.#epochs.keys()) {
      this.#epochs.delete(oldest);
      return;
    }
  }

  /** A listener that throws must not take the reading of other frames down with it. */
  #tell(tell: () => void): void {
    try {
      tell();
    } catch (thrown) {
      this.#services.logger.error(
        { error: messageOf(thrown) },
        'a listener of the transport threw',
      );
    }
  }
}
