/**
 * One turn: one actor takes one item from its mailbox.
 *
 * Guarantees: a turn changes its actor completely or not at all. It takes the event,
 * applies what the machine asked for to the actor's own tables (deadlines, outbox,
 * durable effects), encodes the record and adds it to the group being filled. What
 * leaves the node is only noted here; release.ts lets it go after the commit. A turn
 * that fails leaves the actor as it was (failure.ts).
 */

import { type Actor, indexEntry, type PendingEffect, shownSnapshot, stateText } from './actor.ts';
import { wholeAddress } from './address.ts';
import { type AdmissionServices, admit, refuse } from './admission.ts';
import { type ChildRetry, dropRetry, endedSession, RUN_AGAIN, runAgain } from './child-tries.ts';
import type { Effect } from './effect.ts';
import { RuntimeError } from './errors.ts';
import { LEADERSHIP_ACQUIRED } from './event-names.ts';
import { failureOf, revert, supervise, undeliveredOf } from './failure.ts';
import { historyText, tell } from './history.ts';
import type { Inspection } from './inspection.ts';
import { SPAWN_EVENT } from './machine.ts';
import type { Item } from './mailbox.ts';
import type { Logger } from './options.ts';
import type { OutboxRow } from './outbox.ts';
import type { Random } from './random.ts';
import { encodeRecord } from './record.ts';
import type { Tree } from './statechart.ts';
import type { TimerRow } from './timer-table.ts';
import { type Asked, eventType, isKept, NOTHING } from './turn-result.ts';
import { newUndelivered } from './undelivered.ts';

export interface TurnServices extends AdmissionServices {
  readonly node: string;
  readonly place: string;
  readonly random: Random;
  readonly inspection: Inspection;
  readonly logger: Logger;
}

export class Turns {
  readonly #services: TurnServices;
  /** What the machine asks for in the turn that runs now. */
  readonly #effects: Effect[] = [];
  readonly #write = (actor: Actor): void => this.write(actor);

  constructor(services: TurnServices) {
    this.#services = services;
  }

  /** Takes the item. What cannot be taken is settled at once, or with the current group. */
  take(actor: Actor, item: Item, at: number): void {
    if (!this.#mayTake(actor, item, at)) return;
    this.#effects.length = 0;
    const timer = item.type === 'timersDue' ? actor.timers.takeDue(at) : undefined;
    let isApplying = false;
    try {
      if (!this.#step(actor, item, timer, at)) return;
      isApplying = true;
      const addresses = this.#checkSends(actor);
      this.#apply(actor, item, timer, at, addresses);
    } catch (thrown) {
      this.#fail(actor, item, timer, at, thrown, isApplying);
    }
  }

  #mayTake(actor: Actor, item: Item, at: number): boolean {
    if (item.type === 'message') return admit(actor, item, at, this.#services, this.#write);
    if (actor.status === 'active') return true;
    if (item.type === 'refusal') item.giveUp();
    return false;
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
    return { type: LEADERSHIP_ACQUIRED, fence, node: this.#services.node, at };
  }

  #begin(actor: Actor, input: unknown, at: number): void {
    // Numbers of children go on, so that what one of an earlier life gives reaches nobody.
    const booked = actor.tree?.booked;
    const { chart, outside } = actor.kind;
    actor.tree = chart.start(actor.address, input, at, this.#effects, booked, outside);
    actor.status = 'active';
    actor.stopReason = undefined;
    actor.input = input;
    actor.timers.rows.length = 0;
    actor.tries.clear();
    actor.term = this.#services.commits.fence;
  }

  /** The whole addresses of what goes through the outbox, checked before anything is applied. */
  #checkSends(actor: Actor): readonly string[] {
    const { limits, place } = this.#services;
    let addresses: string[] | undefined;
    for (const effect of this.#effects) {
      if (effect.type !== 'send' || effect.to === '') continue;
      const to = wholeAddress(effect.to, place);
      if (!isKept(effect)) continue;
      addresses ??= [];
      addresses.push(to);
    }
    if (addresses === undefined) return NOTHING;
    if (actor.outbox.size + addresses.length <= limits.outboxMax) return addresses;
    const { address, outbox } = actor;
    const what = `${address} has ${outbox.size} unacknowledged messages and would send ${addresses.length} more (outboxMax ${limits.outboxMax}).`;
    throw new RuntimeError('OUTBOX_FULL', what, { address });
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
    const asked = this.#share(actor, at, addresses);
    const { leaving, sent, pending } = asked;
    const state = stateText((actor.tree as Tree).snapshot.value);
    const facts = {
      timer,
      state: state === actor.state ? undefined : state,
      did: tell(sent, leaving, pending),
    };
    actor.state = state;
    this.#stage(actor, historyText(actor, item, at, facts));
    this.#finish(actor, item, at, eventType(item, timer), asked, undefined);
  }

  /** Puts what the machine asked for into the actor's own tables; the rest leaves after the commit. */
  #share(actor: Actor, at: number, addresses: readonly string[]): Asked {
    let leaving: Effect[] | undefined;
    let sent: OutboxRow[] | undefined;
    let pending: PendingEffect[] | undefined;
    for (const effect of this.#effects) {
      if (actor.timers.apply(effect, at)) continue;
      if (effect.type === 'send' && effect.to === '') continue;
      if (effect.type === 'stopChild') dropRetry(actor, effect.session);
      if (effect.type === 'send' && isKept(effect)) {
        sent ??= [];
        sent.push(actor.outbox.add(addresses[sent.length] as string, effect.event));
      } else if (effect.type === 'action' && actor.kind.isDurable(effect.name)) {
        pending ??= [];
        pending.push({
          id: `${actor.address}#${actor.turns}.${pending.length}`,
          name: effect.name,
          params: effect.params,
        });
      } else if (effect.type === 'send') {
        leaving ??= [];
        leaving.push({ ...effect, to: wholeAddress(effect.to, this.#services.place) });
      } else {
        leaving ??= [];
        leaving.push(effect);
      }
    }
    if (pending !== undefined) actor.effects = [...actor.effects, ...pending];
    const { snapshot } = actor.tree as Tree;
    if (snapshot.status !== 'active') {
      actor.status = 'done';
      actor.timers.rows.length = 0;
      actor.tries.clear();
    }
    return { leaving, sent, pending };
  }

  #stage(
    actor: Actor,
    row: string | undefined,
    undelivered?: readonly [id: string, row: string],
  ): void {
    const { commits, limits } = this.#services;
    actor.text = encodeRecord(actor, limits.recordBytesMax);
    actor.isDirty = false;
    commits.filling.add(actor, indexEntry(actor, this.#services.logger), row, undelivered);
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
    const isBirth = item.type === 'message' && item.event.type === SPAWN_EVENT;
    if (isApplying || isBirth || actor.tree?.hasChildren === true) revert(actor, item, timer);
    if (isBirth) {
      // Nothing was born, so nothing is written: the sender keeps the message.
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

  /** A restart by supervision: the machine's first state, from the input the actor was born with. */
  #beginAnew(actor: Actor, at: number): Asked {
    const { term } = actor;
    this.#effects.length = 0;
    this.#begin(actor, actor.input, at);
    actor.term = term;
    return this.#share(actor, at, this.#checkSends(actor));
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
      timers: inspection.hasReaders ? [...actor.timers.rows] : NOTHING,
      snapshot: shownSnapshot(actor),
      effects: asked.leaving ?? NOTHING,
      sent: asked.sent ?? NOTHING,
      pending: asked.pending ?? NOTHING,
      failure,
      retry,
    });
  }
}

/** The event as the machine takes it. A copy that begins with `at` is made several times as fast as one that ends with it. */
function stamped(event: { readonly type: string }, at: number): { type: string; at: number } {
  const taken = { at, ...event };
  taken.at = at;
  return taken;
}
