/**
 * View of a runtime for code that watches it from outside: its live numbers, its log, a signal for
 * its end, and what it knows of its actors and of other nodes. It changes nothing but a deadline that it is told to move.
 */

import type { AnyStateMachine } from 'xstate';
import { wholeAddress } from '../base/address.ts';
import type { Logger } from '../base/limits.ts';
import type { Metrics } from '../base/metrics.ts';
import { INSPECT_QUESTION } from '../delivery.ts';
import type { IndexEntry } from '../ports/store.ts';
import { type EnabledTransition, enabledTransitions, isDeclared } from '../statechart.ts';
import { type ActorReport, reportOf } from './actor-report.ts';
import type { Node } from './node.ts';
import type { InspectionResponder } from './reads.ts';

/** A kind as it is registered. */
export interface RegisteredKind {
  readonly name: string;
  readonly version: number;
  readonly machine: AnyStateMachine;
  /** Validators of events, by type. */
  readonly validate: Readonly<Record<string, unknown>>;
}

/** Result of `Runtime.watchOf`. */
export interface RuntimeWatch {
  readonly metrics: Metrics;
  readonly ended: AbortSignal;
  readonly logger: Logger;
  now(): number;
  /** Runs a task after a while, by the runtime's clock. Returns what cancels it. */
  later(delayMs: number, task: () => void): () => void;
  /** True for actors that clients may not speak to. */
  readonly isClosedToClients: (address: string) => boolean;
  /** The other node that hosts a place, as far as is known. */
  readonly hostOf: (place: string) => string | undefined;
  /** Places that connected nodes say they host, and their names. */
  places(): readonly string[];
  /** Nodes that are connected. */
  peers(): readonly string[];
  kinds(): readonly RegisteredKind[];
  /** Index entry of an actor of this place, without reading its record. */
  entry(address: string): IndexEntry | undefined;
  /** Number of undelivered messages, without reading them. */
  undeliveredCount(): number;
  /** Messages of an actor in memory that are not acknowledged; undefined of one that is not in memory. */
  outboxOf(address: string): number | undefined;
  /** Report of an actor of this place; undefined when there is none. @throws {RuntimeError} KIND_UNKNOWN, RECORD_INVALID */
  report(address: string): ActorReport | undefined;
  /** Transitions that an actor of this place would take for an event. Throws what a guard throws. */
  enabled(address: string, event: { readonly type: string }): readonly EnabledTransition[];
  /**
   * Arms a deadline of an active actor for another moment: one that has passed comes at once. A turn of the actor,
   * of which its machine hears nothing; entering the state again arms it as the machine says.
   *
   * @throws {RuntimeError} ACTOR_UNKNOWN, ACTOR_ENDED, OPTION_INVALID of one that is not armed, NOT_HOSTED
   */
  moveDeadline(address: string, id: string, dueAt: number): Promise<void>;
  /** True if any state of the actor's machine has a transition for the event. */
  declares(kind: string, type: string): boolean;
  /** Asks the inspector of a connected node. @throws {RuntimeError} NOT_ALLOWED, ASK_TIMED_OUT, ASK_LOST */
  askInspector(node: string, query: object, timeoutMs: number): Promise<unknown>;
  /** Answers inspectors of other nodes from now on; `undefined` ends it. */
  answerInspectors(responder: InspectionResponder | undefined): void;
}

export function watchOf(node: Node): RuntimeWatch {
  const { metrics, ending, ports, shard, messaging, performers, calls, reads } = node;
  const { clock, store, transport } = ports;
  const doing = (effectId: string): string => {
    const retry = performers.retryOf(effectId);
    if (retry === undefined) return 'under way';
    return `tried again in ${Math.max(0, retry.dueAt - clock.now())} ms, has failed ${retry.attempt} times: ${retry.error}`;
  };
  return {
    metrics,
    ended: ending.signal,
    logger: ports.logger,
    now: () => clock.now(),
    later: (delayMs, task) => clock.schedule(clock.now() + delayMs, task),
    isClosedToClients: (address) => shard.kinds.isClosedToClients(address),
    hostOf: (place) => messaging.routes.hostOf(place),
    places: () => messaging.peers.places(),
    peers: () => [...transport.peers()],
    kinds: () =>
      [...shard.kinds].map(({ name, version, source, options }) => ({
        name,
        version,
        machine: source,
        validate: options.validate ?? {},
      })),
    entry: (address) => store.entry(wholeAddress(address, ports.place)),
    undeliveredCount: () => [...store.undelivered()].length,
    outboxOf: (address) => shard.live.peek(address)?.outbox.size,
    report: (address) => {
      const actor = shard.find(address);
      return actor === undefined ? undefined : reportOf(actor, doing);
    },
    enabled: (address, event) => {
      const snapshot = shard.find(address)?.committed;
      return snapshot === undefined ? [] : enabledTransitions(snapshot, event as never);
    },
    moveDeadline: (address, id, dueAt) =>
      calls.order(wholeAddress(address, ports.place), 'moveDeadline', { id, dueAt }),
    declares: (kind, type) => {
      const found = shard.kinds.find(kind);
      return found !== undefined && isDeclared(found.source, type);
    },
    askInspector: (peer, query, timeoutMs) =>
      calls.read(`inspector/page@${peer}`, { what: INSPECT_QUESTION, query }, { timeoutMs }),
    answerInspectors: (responder) => {
      reads.responder = responder;
    },
  };
}
