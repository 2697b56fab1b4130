/**
 * Messaging: the parts of a node that carry messages to other places and to its own mailboxes, wired
 * together.
 */

import type { Message } from '../actor.ts';
import type { RuntimeError } from '../base/errors.ts';
import type { Metrics } from '../base/metrics.ts';
import { Delivery, Hints, Peers, Routes, Session } from '../delivery.ts';
import type { NodePorts } from './node-ports.ts';

export interface Messaging {
  readonly peers: Peers;
  readonly routes: Routes;
  readonly delivery: Delivery;
  readonly hints: Hints;
  readonly session: Session;
}

export interface MessagingOutlets {
  readonly metrics: Metrics;
  accept(address: string, message: Message): void;
  isHosting(): boolean;
  /** A hint was refused. */
  undelivered(to: string, event: { readonly type: string }, error: RuntimeError): void;
}

export function createMessaging(ports: NodePorts, outlets: MessagingOutlets): Messaging {
  const { node, place, clock, random, limits, logger, transport } = ports;
  const peers = new Peers(node, transport, logger, ports);
  const routes = new Routes({ place, peers, isHosting: outlets.isHosting });
  const mayGoAhead = ports.store.isGroupAtomic;
  const delivery = new Delivery({ ...ports, ...outlets, peers, routes, mayGoAhead });
  const inquire = (target: string): void => delivery.inquire(target);
  const hints = new Hints({ ...ports, ...outlets, peers, routes, inquire });
  const session = new Session(`session:${random.id()}@${node}`, delivery, clock, limits);
  return { peers, routes, delivery, hints, session };
}
