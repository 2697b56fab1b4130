/**
 * Release of what a turn asked for: it leaves after the commit, in the order the machine asked for it.
 *
 * Everything here happens to turns that are durable: senders get their answer, messages
 * go out, performers run, observers see the new snapshot. Nothing here can undo a turn.
 */

import type { EventObject } from 'xstate';
import type { Actor, Message, OutboxRow } from '../actor.ts';
import { childrenToRun, endedSession, NOTHING, stamped, type Turn } from '../actor.ts';
import { messageOf, RuntimeError } from '../base/errors.ts';
import type { Inspection } from '../base/inspection.ts';
import type { Logger } from '../base/limits.ts';
import type { Metrics } from '../base/metrics.ts';
import type { Asks, Delivery, DeliveryOwner, Hints } from '../delivery.ts';
import { SPAWN_EVENT } from '../machine.ts';
import { reportFailure } from '../shard.ts';
import type { ActionEffect, Effect } from '../statechart.ts';
import type { Children } from './children.ts';
import { questionIn } from './named-questions.ts';
import type { Observers } from './observers.ts';
import type { Performers } from './performers.ts';
import type { Questions } from './questions.ts';

export interface ReleaseServices {
  readonly asks: Asks;
  readonly children: Children;
  readonly delivery: Delivery;
  readonly hints: Hints;
  readonly inspection: Inspection;
  readonly metrics: Metrics;
  readonly observers: Observers;
  readonly performers: Performers;
  readonly questions: Questions;
  readonly logger: Logger;
  readonly owner: DeliveryOwner;
  /** The `self` of an inline action of a root. */
  handleOf(address: string, system: unknown): unknown;
}

export class Release {
  readonly #services: ReleaseServices;

  constructor(services: ReleaseServices) {
    this.#services = services;
  }

  /** Hands messages over: before the commit those to actors of this place, with it all. */
  handOver({ address, outbox }: Actor, sent: readonly OutboxRow[]): void {
    const { delivery, owner } = this.#services;
    let last = '';
    for (const { to } of sent) {
      // A batch to one receiver goes at once.
      if (to !== last) delivery.dispatch(address, outbox, to, owner);
      last = to;
    }
  }

  turn(turn: Turn): void {
    const { actor, item, failure, snapshot, status, sent, effects, pending } = turn;
    const { performers, observers, questions, inspection, metrics } = this.#services;
    if (turn.question !== undefined) {
      this.#ask(turn, turn.question);
      return;
    }
    count(turn, metrics);
    if (failure !== undefined && snapshot !== undefined) reportFailure(turn, this.#services.logger);
    questions.taken(turn);
    if (item.type === 'message') item.settle?.(heard(turn));
    else if (item.type === 'order') item.settle(failure);
    else if (item.type === 'refusal') item.noted();
    const ended = endedSession(item);
    if (ended !== undefined) this.#services.children.taken(actor.address, ended);
    if (sent.length > 0) {
      actor.outbox.durable = (sent.at(-1) as OutboxRow).counter;
      this.handOver(actor, sent);
    }
    for (let index = 0; index < effects.length; index += 1) {
      const effect = effects[index] as Effect;
      try {
        this.#effect(turn, effect, index);
      } catch (thrown) {
        // Code of others, such as a logger: what it throws keeps back nothing else of the group.
        const fields = { address: actor.address, effect: effect.type, error: messageOf(thrown) };
        this.#services.logger.error(fields, 'an effect could not leave');
      }
    }
    for (const effect of pending) performers.performDurably(actor.address, actor.kind, effect);
    questions.released(turn);
    if (snapshot === undefined) return;
    if (!observers.isEmpty) {
      // One that was ended by hand is complete, as one that XState stops.
      const isComplete = status === 'done' || (status === 'stopped' && failure === undefined);
      const end = isComplete ? 'done' : status === 'stopped' ? status : undefined;
      observers.committed(actor.address, snapshot, end, failure);
    }
    if (!inspection.hasReaders) return;
    metrics.lastTurnAt = turn.at;
    tellOf(turn, inspection);
  }

  /** Gives the question itself to its performer: no turn was taken for it. */
  #ask({ actor, item, at }: Turn, performer: string): void {
    const { inspection, metrics, performers, questions } = this.#services;
    const { event, from, counter, settle } = item as Message;
    const { address } = actor;
    metrics.questionsAsked += 1;
    const replyTo = questionIn(event);
    const how = replyTo === undefined ? 'opened' : questions.asked(replyTo, address);
    const question = stamped(event, at);
    if (how !== 'copy' && inspection.hasReaders)
      inspection.tell({
        type: 'question',
        address,
        event: question,
        from,
        counter: from === undefined ? undefined : counter,
      });
    settle?.();
    if (how === 'opened') performers.answer(actor, performer, question, replyTo ?? address);
  }

  /** An actor came into memory with something under way: all of it goes on. */
  resume(actor: Actor): void {
    const { delivery, performers, children, owner } = this.#services;
    for (const { to } of [...actor.outbox.lanes()])
      delivery.dispatch(actor.address, actor.outbox, to, owner);
    for (const effect of actor.effects)
      performers.performDurably(actor.address, actor.kind, effect);
    children.reconcile(actor.address, childrenToRun(actor));
    actor.runningChildren = children.countOf(actor.address);
  }

  /** A child's is the reference that its machine had. */
  #selfOf({ session, args }: ActionEffect, address: string): unknown {
    return session === 0 ? this.#services.handleOf(address, args.system) : args.self;
  }

  #effect({ actor, number }: Turn, effect: Effect, index: number): void {
    const { asks, children, hints, logger, observers, performers, questions } = this.#services;
    const { address } = actor;
    switch (effect.type) {
      case 'send':
        questions.answered(effect.to);
        if (asks.owns(effect.to))
          asks.answer(effect.to, (effect.event as { value?: unknown }).value);
        else hints.send(address, effect.to, effect.event);
        return;
      case 'action':
        performers.perform(
          actor,
          effect,
          `${address}#${number}:${index}`,
          this.#selfOf(effect, address),
        );
        return;
      case 'emit':
        if (effect.session === 0) observers.emitted(address, effect.event as EventObject);
        return;
      case 'log':
        logger.info({ address, log: effect.args }, 'log');
        return;
      case 'startChild':
        children.start(address, effect);
        actor.runningChildren = children.countOf(address);
        return;
      case 'tellChild':
        children.tell(address, effect.session, effect.event);
        return;
      case 'stopChild':
        children.stop(address, effect.session);
        actor.runningChildren = children.countOf(address);
    }
  }
}

function count({ item, event, snapshot, status, failure, retry }: Turn, metrics: Metrics): void {
  if (snapshot === undefined) {
    // Of spawns nobody can say here whether they came twice or found an actor.
    const isMessage = item.type === 'message' && item.event.type !== SPAWN_EVENT;
    if (failure !== undefined && item.type === 'message') metrics.refuse(failure.code);
    else if (isMessage) metrics.duplicatesRefused += 1;
    return;
  }
  metrics.turns += 1;
  if (retry !== undefined) metrics.childrenRetried += 1;
  if (failure !== undefined) metrics.turnsFailed += 1;
  else if (event === SPAWN_EVENT) metrics.births += 1;
  if (status !== 'active') metrics.ends += 1;
}

/**
 * The error that the sender of the turn's message hears, if any. A failure inside the turn is told as
 * one, whatever its code.
 */
function heard({ item, failure, snapshot }: Turn): Error | undefined {
  const isTell = item.type === 'message' && item.from !== undefined;
  if (failure === undefined || snapshot === undefined || !isTell || failure.code === 'TURN_FAILED')
    return failure;
  return new RuntimeError('TURN_FAILED', `${failure.code}: ${failure.message}`, {
    address: failure.address,
    cause: failure,
  });
}

/** A turn of an actor that concerns no reader costs a question, and one for each of its messages. */
function tellOf(turn: Turn, inspection: Inspection): void {
  const { actor, failure, sent, status } = turn;
  const { address } = actor;
  const isTold = inspection.concerns(address);
  if (isTold) tellTurn(turn, inspection);
  for (const { counter, to, event } of sent)
    if (isTold || inspection.concerns(to))
      inspection.tell({ type: 'messageSent', from: address, counter, to, event });
  if (failure !== undefined) {
    const error = failure.toJSON();
    inspection.tell({ type: 'undelivered', to: address, event: takenIn(turn), error });
  }
  if (isTold && (status === 'done' || status === 'stopped'))
    inspection.tell({ type: 'actor', address, kind: actor.kind.name, change: status });
}

function tellTurn(turn: Turn, inspection: Inspection): void {
  const { actor, item, snapshot, failure, event, number, state } = turn;
  const { address } = actor;
  const message = item.type === 'message' ? item : undefined;
  if (failure === undefined && event === SPAWN_EVENT)
    inspection.tell({ type: 'actor', address, kind: actor.kind.name, change: 'born' });
  inspection.tell({
    type: 'turn',
    address,
    turn: number,
    takenAt: turn.at,
    event: takenIn(turn),
    from: message?.from,
    counter: message?.from === undefined ? undefined : message.counter,
    state,
    context: snapshot?.context,
    error: failure?.toJSON(),
  });
  // Taken before anybody read: its deadlines were not copied.
  if (turn.timers !== NOTHING)
    inspection.tell({
      type: 'timers',
      address,
      timers: turn.timers.map(({ id, dueAt }) => ({ id, dueAt })),
    });
}

const takenIn = ({ item, event }: Turn): { readonly type: string } =>
  item.type === 'message' || item.type === 'refusal' ? item.event : { type: event };
