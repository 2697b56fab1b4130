/**
 * Turn: one actor takes one item from its mailbox.
 *
 * Guarantees: a turn changes its actor completely or not at all. It takes the event,
 * applies what the machine asked for to the actor's own tables (deadlines, outbox,
 * durable effects), encodes the record and adds it to the group being filled. What
 * leaves the node is only noted here; release.ts lets it go after the commit. A turn
 * that fails leaves the actor as it was (failure.ts).
 */

import type { ContextLosses, Item, Message, Order, OutboxRow, TimerRow } from '../actor.ts';
import {
  type Actor,
  type Asked,
  type ChildRetry,
  dropRetry,
  emptyTurn,
  encodeRecord,
  endedSession,
  eventType,
  historyText,
  indexEntry,
  LEADERSHIP_ACQUIRED,
  NOTHING,
  newUndelivered,
  RUN_AGAIN,
  runAgain,
  shownSnapshot,
  stamped,
  stateText,
  tell,
} from '../actor.ts';
import { RuntimeError } from '../base/errors.ts';
import type { Inspection } from '../base/inspection.ts';
import type { Logger } from '../base/limits.ts';
import { SPAWN_EVENT } from '../machine.ts';
import type { Random } from '../ports/random.ts';
import type { Transport } from '../ports/transport.ts';
import type { Effect, Tree } from '../statechart.ts';
import { rowChanges, tablesBeside } from '../statechart.ts';
import { type AdmissionServices, admit, refuse } from './admission.ts';
import { obey, orderRefusal } from './orders.ts';
import { checkSends, share } from './sharing.ts';
import { failureOf, revert, supervise, undeliveredOf } from './supervision.ts';

export interface TurnServices extends AdmissionServices {
  readonly node: string;
  readonly random: Random;
  readonly inspection: Inspection;
  readonly contexts: ContextLosses;
  readonly logger: Logger;
  readonly transport?: Pick<Transport, 'url'>;
  /** Hears of messages that a turn in the group being filled has sent. */
  sent(actor: Actor, rows: readonly OutboxRow[]): void;
  /** Hears of a message that such a turn has taken. */
  taken(message: Message): void;
}

export class Turns {
  readonly #services: TurnServices;
  /** Effects that the machine asks for in the turn that runs now. */
  readonly #effects: Effect[] = [];
  readonly #write = (actor: Actor): void => this.write(actor);

  constructor(services: TurnServices) {
    this.#services = services;
  }

  /** Takes the item. What cannot be taken is settled at once, or with the current group. */
  take(actor: Actor, item: Item, at: number): void {
    if (!this.#mayTake(actor, item, at)) return;
    if (item.type === 'order') {
      this.#obey(actor, item, at);
      return;
    }
    this.#effects.length = 0;
    const timer = item.type === 'timersDue' ? actor.timers.takeDue(at) : undefined;
    let isApplying = false;
    try {
      if (!this.#step(actor, item, timer, at)) return;
      isApplying = true;
      const addresses = checkSends(actor, this.#effects, this.#services);
      this.#apply(actor, item, timer, at, addresses);
    } catch (thrown) {
      this.#fail(actor, item, timer, at, thrown, isApplying);
    }
  }

  #mayTake(actor: Actor, item: Item, at: number): boolean {
    if (item.type === 'message') return admit(actor, item, at, this.#services, this.#write);
    if (item.type === 'order') return this.#mayObey(actor, item, at);
    if (actor.status === 'active') return true;
    if (item.type === 'refusal') item.giveUp();
    return false;
  }

  /** An order that cannot be carried out is refused once what speaks against it is durable. */
  #mayObey(actor: Actor, item: Order, at: number): boolean {
    const refusal = orderRefusal(actor, item);
    if (refusal === undefined) return true;
    if (actor.group === undefined) item.settle(refusal);
    else this.#services.commits.filling.turns.push(emptyTurn(actor, item, at, refusal));
    return false;
  }

  #obey(actor: Actor, item: Order, at: number): void {
    const { commits } = this.#services;
    actor.turns += 1;
    actor.at = at;
    const leaving = obey(actor, item, at);
    if (actor.status === 'unspawned') commits.filling.add(actor, null, undefined);
    else this.#stage(actor, historyText(actor, item, at, { timer: undefined }));
    if (item.order === 'forget') {
      actor.committed = undefined;
      commits.filling.turns.push(emptyTurn(actor, item, at));
      return;
    }
    const asked = { leaving, sent: undefined, pending: undefined };
    this.#finish(actor, item, at, eventType(item, undefined), asked, undefined);
  }

  /** Writes bookkeeping (acknowledged messages, finished effects) that no turn has written meanwhile. */
  write(actor: Actor, undelivered?: readonly [id: string, row: string]): void {
    this.#stage(actor, undefined, undelivered);
  }

  /** Runs the machine; false when there was nothing for it after all. */
  #step(actor: Actor, item: Item, timer: TimerRow | undefined, at: number): boolean {
    const effects = this.#effects;
    const tree = actor.tree as Tree;
    switch (item.type) {
      case 'message':
        if (item.event.type === SPAWN_EVENT)
          this.#begin(actor, (item.event as { input?: unknown }).input, at);
        else if (item.timer !== undefined) tree.fire(item.timer, at, effects);
        else tree.take(stamped(item.event, at), at, effects, item.session);
        return true;
      case 'timersDue':
        if (timer?.id === RUN_AGAIN) return runAgain(tree, timer.session, effects);
        if (timer !== undefined) tree.fire(timer, at, effects);
        return timer !== undefined;
      case 'childSettled':
        return tree.settle(item.session, item.result, at, effects);
      case 'takeover':
        actor.term = item.fence;
        tree.take(this.#takeover(item.fence, at) as never, at, effects);
        return true;
      case 'order':
        return false;
      case 'refusal':
        // A turn that fails keeps this: then the event is undelivered instead of the message.
        if (actor.outbox.settle(item.row.to, item.row.counter) === undefined) {
          this.#services.commits.filling.whenDurable.push(item.noted);
          return false;
        }
        tree.take(stamped(item.event, at), at, effects);
        return true;
    }
  }

  #takeover(fence: number, at: number): object {
    const { node, transport } = this.#services;
    const url = transport?.url;
    return { type: LEADERSHIP_ACQUIRED, fence, node, ...(url !== undefined && { url }), at };
  }

  #begin(actor: Actor, input: unknown, at: number): void {
    // Numbers of children go on, so that what one of an earlier life gives reaches nobody.
    const booked = actor.tree?.booked;
    const { chart, outside, options } = actor.kind;
    actor.tree = chart.start(actor.address, input, at, this.#effects, booked, outside);
    actor.status = 'active';
    actor.stopReason = undefined;
    actor.input = options.forgetsInput === true ? undefined : input;
    actor.timers.rows.length = 0;
    actor.tries.clear();
    actor.term = this.#services.commits.fence;
  }

  #apply(
    actor: Actor,
    item: Item,
    timer: TimerRow | undefined,
    at: number,
    addresses: readonly string[],
  ): void {
    actor.turns += 1;
    actor.at = at;
    const ended = endedSession(item);
    if (ended !== undefined) dropRetry(actor, ended);
    const asked = share(actor, this.#effects, at, addresses, this.#services.place);
    const { leaving, sent, pending } = asked;
    const state = stateText((actor.tree as Tree).snapshot.value);
    const facts = {
      timer,
      state: state === actor.state ? undefined : state,
      did: tell(sent, leaving, pending),
    };
    actor.state = state;
    this.#services.contexts.look(actor);
    this.#stage(actor, historyText(actor, item, at, facts));
    this.#finish(actor, item, at, eventType(item, timer), asked, undefined);
    if (item.type === 'message') this.#services.taken(item);
  }

  #stage(
    actor: Actor,
    row: string | undefined,
    undelivered?: readonly [id: string, row: string],
  ): void {
    const { commits, limits } = this.#services;
    const { recordBytesMax } = limits;
    const text = encodeRecord(actor, recordBytesMax);
    const { snapshot } = actor.tree as Tree;
    const tables = tablesBeside(snapshot.context, actor.input);
    const changes = rowChanges(actor.address, actor.tables, tables, recordBytesMax);
    Object.assign(actor, { text, tables, isDirty: false });
    const entry = indexEntry(actor, this.#services.logger);
    commits.filling.add(actor, entry, row, undelivered, changes);
  }

  #fail(
    actor: Actor,
    item: Item,
    timer: TimerRow | undefined,
    at: number,
    thrown: unknown,
    isApplying: boolean,
  ): void {
    const failure = failureOf(thrown, actor, item, timer);
    const isSpawn = item.type === 'message' && item.event.type === SPAWN_EVENT;
    if (isApplying || isSpawn || actor.tree?.hasChildren === true) revert(actor, item, timer);
    if (isSpawn) {
      // Nothing was spawned, so nothing is written: the sender keeps the message.
      const { code, message, address } = failure;
      const isDefect = code === 'TURN_FAILED';
      const cause = { address, cause: thrown };
      const refusal = isDefect ? new RuntimeError('BIRTH_FAILED', message, cause) : failure;
      refuse(item, refusal, this.#services.metrics);
      return;
    }
    actor.turns += 1;
    actor.at = at;
    const asked = supervise(actor, item, at, failure, () => this.#beginAnew(actor, at));
    const before = actor.state;
    actor.state = stateText((actor.tree as Tree).snapshot.value);
    const state = actor.state === before ? undefined : actor.state;
    const undelivered = newUndelivered(
      undeliveredOf(actor, item, timer, failure),
      at,
      this.#services.random,
    );
    this.#stage(actor, historyText(actor, item, at, { timer, failure, state }), undelivered);
    this.#finish(actor, item, at, eventType(item, timer), asked, failure, asked.retry);
  }

  /** A restart by supervision: the machine's first state, from the input the actor was spawned with. */
  #beginAnew(actor: Actor, at: number): Asked {
    const { term } = actor;
    this.#effects.length = 0;
    this.#begin(actor, actor.input, at);
    actor.term = term;
    const addresses = checkSends(actor, this.#effects, this.#services);
    return share(actor, this.#effects, at, addresses, this.#services.place);
  }

  #finish(
    actor: Actor,
    item: Item,
    at: number,
    event: string,
    asked: Asked,
    failure: RuntimeError | undefined,
    retry?: ChildRetry,
  ): void {
    const { commits, inspection } = this.#services;
    commits.filling.turns.push({
      actor,
      item,
      at,
      event,
      number: actor.turns,
      state: actor.state,
      status: actor.status,
      timers: inspection.concerns(actor.address) ? [...actor.timers.rows] : NOTHING,
      snapshot: shownSnapshot(actor),
      effects: asked.leaving ?? NOTHING,
      sent: asked.sent ?? NOTHING,
      pending: asked.pending ?? NOTHING,
      failure,
      retry,
    });
    if (asked.sent !== undefined) this.#services.sent(actor, asked.sent);
  }
}
