/**
 * One turn: one actor takes one item from its mailbox.
 *
 * Guarantees: a turn changes its actor completely or not at all. It takes the event,
 * applies what the machine asked for to the actor's own tables (deadlines, outbox,
 * durable effects), encodes the record and adds it to the group being filled. What
 * leaves the node is only noted; release.ts lets it go after the commit. A turn that
 * fails leaves the actor as it was, moves the event to the undelivered messages, and
 * does what the kind's supervision says.
 */

import type { AnyMachineSnapshot } from 'xstate';
import { type Actor, type PendingEffect, stateText } from './actor.ts';
import { placeOf, wholeAddress } from './address.ts';
import type { Commits } from './commit.ts';
import type { Effect, SendEffect } from './effect.ts';
import { messageOf, RuntimeError } from './errors.ts';
import { historyText, tell } from './history.ts';
import { LEADERSHIP_ACQUIRED } from './kind.ts';
import { SPAWN_EVENT } from './machine.ts';
import type { Item, Message } from './mailbox.ts';
import type { RuntimeLimits } from './options.ts';
import type { OutboxRow } from './outbox.ts';
import { decodeRecord, encodeRecord } from './record.ts';
import type { Tree } from './statechart.ts';
import type { IndexEntry } from './store.ts';
import type { TimerRow } from './timer-table.ts';
import { undeliveredRow } from './undelivered.ts';

/** What waits for the commit. */
export interface Turn {
  readonly actor: Actor;
  /** Undefined for bookkeeping that took no event. */
  readonly item: Item | undefined;
  readonly at: number;
  readonly event: string;
  /** Which turn of the actor it was, and its state and deadlines afterwards. */
  readonly number: number;
  readonly state: string;
  readonly status: Actor['status'];
  /** Copied only while somebody inspects. */
  readonly timers: readonly TimerRow[];
  /** Undefined when no event reached the machine. */
  readonly snapshot: AnyMachineSnapshot | undefined;
  /** What leaves the node, in the machine's order. */
  readonly effects: readonly Effect[];
  readonly sent: readonly OutboxRow[];
  readonly pending: readonly PendingEffect[];
  readonly failure: RuntimeError | undefined;
}

const NOTHING: readonly never[] = [];

/** An effect that went into the actor's tables and needs no release. */
const isApplied = (effect: Effect): boolean =>
  effect.type === 'arm' || effect.type === 'cancel' || effect.type === 'cancelAll';

export class Turns {
  readonly #place: string;
  readonly #limits: RuntimeLimits;
  readonly #commits: Commits;
  readonly #newId: () => string;
  readonly #isInspected: () => boolean;
  readonly #effects: Effect[] = [];

  constructor(
    place: string,
    limits: RuntimeLimits,
    commits: Commits,
    newId: () => string,
    isInspected: () => boolean,
  ) {
    this.#place = place;
    this.#limits = limits;
    this.#commits = commits;
    this.#newId = newId;
    this.#isInspected = isInspected;
  }

  /** Takes the item. What cannot be taken is settled at once or with the current group. */
  take(actor: Actor, item: Item, at: number): void {
    if (item.type === 'message' && !this.#admit(actor, item, at)) return;
    if (item.type !== 'message' && actor.status !== 'active') return;
    this.#effects.length = 0;
    let timer: TimerRow | undefined;
    let isApplying = false;
    try {
      switch (item.type) {
        case 'message':
          if (item.event.type === SPAWN_EVENT) this.#begin(actor, item, at);
          else actor.tree?.take({ ...item.event, at } as never, at, this.#effects);
          break;
        case 'timersDue':
          timer = actor.timers.takeDue(at);
          if (timer === undefined) return;
          actor.tree?.fire(timer, at, this.#effects);
          break;
        case 'childSettled':
          if (actor.tree?.settle(item.session, item.result, at, this.#effects) !== true) return;
          break;
        case 'takeover':
          actor.term = item.fence;
          actor.tree?.take(
            { type: LEADERSHIP_ACQUIRED, fence: item.fence, at } as never,
            at,
            this.#effects,
          );
      }
      const sends = this.#planSends(actor);
      isApplying = true;
      this.#apply(actor, item, timer, at, sends);
    } catch (thrown) {
      this.#fail(actor, item, timer, at, thrown, isApplying);
    }
  }

  /** Writes bookkeeping (acknowledged messages, finished effects) that no turn has written meanwhile. */
  write(actor: Actor, undelivered?: readonly [id: string, row: string]): void {
    actor.isDirty = false;
    actor.text = encodeRecord(actor, this.#limits.recordBytesMax);
    const writing = this.#commits.filling.add(actor, indexEntry(actor), undefined);
    if (undelivered !== undefined) (writing.undelivered ??= []).push(undelivered);
  }

  /** Duplicates and events for actors that are not there never reach a machine. */
  #admit(actor: Actor, item: Message, at: number): boolean {
    const { from, event } = item;
    const isBirth = event.type === SPAWN_EVENT;
    const isKnown = from !== undefined && actor.inbox.has(from, item.counter);
    if (isKnown || (isBirth && actor.status === 'active')) {
      const mustBeNew = (event as { mustBeNew?: boolean }).mustBeNew === true && !isKnown;
      const { address } = actor;
      const refusal = mustBeNew
        ? new RuntimeError(
            'ACTOR_EXISTS',
            `${address} exists already. Use runtime.actor() to reach it, or spawn with ifAbsent.`,
            { address },
          )
        : undefined;
      // The first one may still wait for its commit: nobody hears of it before.
      this.#commits.filling.turns.push(bookkeeping(actor, item, at, refusal));
      return false;
    }
    if (actor.status !== 'active' && !isBirth) {
      item.settle?.(absent(actor));
      return false;
    }
    if (from === undefined) return true;
    const verdict = actor.inbox.take(from, item.counter, item.settledBelow, at, {
      sendersMax: this.#limits.sendersMax,
      retentionMs: this.#limits.dedupRetentionMs,
    });
    if (verdict === 'new') return true;
    const what = `${actor.address} remembers ${this.#limits.sendersMax} senders already. Raise sendersMax, or send through fewer actors.`;
    item.settle?.(new RuntimeError('TOO_MANY_SENDERS', what, { address: actor.address }));
    return false;
  }

  #begin(actor: Actor, item: Message, at: number): void {
    const { input } = item.event as unknown as { input: unknown };
    actor.tree = actor.kind.chart.start(actor.address, input, at, this.#effects);
    actor.status = 'active';
    actor.input = input;
    actor.stopReason = undefined;
    actor.timers.rows.length = 0;
    actor.effects = [];
    actor.failedAt = [];
    actor.term = this.#commits.fence;
  }

  /** Whole addresses of what goes through the outbox, checked before anything is applied. */
  #planSends(actor: Actor): string[] | undefined {
    let sends: string[] | undefined;
    for (const effect of this.#effects) {
      if (effect.type !== 'send' || effect.to === '') continue;
      const to = wholeAddress(effect.to, this.#place);
      if (isKept(effect)) (sends ??= []).push(to);
    }
    if (sends !== undefined && actor.outbox.size + sends.length > this.#limits.outboxMax) {
      const what = `${actor.address} has ${actor.outbox.size} unacknowledged messages and would send ${sends.length} more (outboxMax ${this.#limits.outboxMax}).`;
      throw new RuntimeError('OUTBOX_FULL', what, { address: actor.address });
    }
    return sends;
  }

  #apply(
    actor: Actor,
    item: Item,
    timer: TimerRow | undefined,
    at: number,
    sends: string[] | undefined,
  ): void {
    const tree = actor.tree as Tree;
    let leaving: Effect[] | undefined;
    let sent: OutboxRow[] | undefined;
    let pending: PendingEffect[] | undefined;
    let nextSend = 0;
    actor.turns += 1;
    actor.at = at;
    for (const effect of this.#effects) {
      if (isApplied(effect)) {
        actor.timers.apply(effect, at);
      } else if (effect.type === 'send' && isKept(effect)) {
        if (effect.to === '') continue;
        (sent ??= []).push(
          actor.outbox.add((sends as string[])[nextSend++] as string, effect.event),
        );
      } else if (effect.type === 'action' && actor.kind.performer(effect.name)?.durable === true) {
        const id = `${actor.address}#${actor.turns}.${(pending ??= []).length}`;
        pending.push({ id, name: effect.name, params: effect.params });
      } else {
        (leaving ??= []).push(effect);
      }
    }
    if (pending !== undefined) actor.effects = [...actor.effects, ...pending];
    const { snapshot } = tree;
    if (snapshot.status !== 'active') {
      actor.status = 'done';
      actor.timers.rows.length = 0;
    }
    const state = stateText(snapshot.value);
    const changed = state === actor.state ? undefined : state;
    actor.state = state;
    this.#stage(
      actor,
      historyText(actor, item, at, { timer, state: changed, did: tell(sent, leaving, pending) }),
    );
    const event = eventType(item, timer);
    this.#finish(actor, item, at, event, leaving, sent, pending, undefined);
  }

  #stage(actor: Actor, row: string): void {
    actor.text = encodeRecord(actor, this.#limits.recordBytesMax);
    actor.isDirty = false;
    this.#commits.filling.add(actor, indexEntry(actor), row);
  }

  #fail(
    actor: Actor,
    item: Item,
    timer: TimerRow | undefined,
    at: number,
    thrown: unknown,
    isApplying: boolean,
  ): void {
    const { address } = actor;
    const failure =
      thrown instanceof RuntimeError
        ? thrown
        : new RuntimeError(
            'TURN_FAILED',
            `${address} could not take "${eventType(item, timer)}": ${messageOf(thrown)}`,
            { address, cause: thrown },
          );
    const isBirth = item.type === 'message' && item.event.type === SPAWN_EVENT;
    if (isApplying || isBirth || actor.tree?.hasChildren === true) revert(actor, item, timer);
    if (isBirth) {
      const { code } = failure;
      item.settle?.(
        code === 'TURN_FAILED'
          ? new RuntimeError('BIRTH_FAILED', failure.message, { address, cause: thrown })
          : failure,
      );
      return;
    }
    const effects = this.#supervise(actor, at, failure);
    actor.turns += 1;
    actor.at = at;
    actor.state = stateText((actor.tree as Tree).snapshot.value);
    this.#stage(actor, historyText(actor, item, at, { timer, failure, state: actor.state }));
    const id = `${at.toString(36).padStart(9, '0')}-${this.#newId().slice(0, 8)}`;
    const row = undeliveredRow({
      id,
      at,
      to: address,
      event: eventOf(item, timer),
      from: identity(item),
      error: failure.toJSON(),
    });
    (this.#commits.filling.add(actor, indexEntry(actor), undefined).undelivered ??= []).push([
      id,
      row,
    ]);
    this.#finish(actor, item, at, eventType(item, timer), effects, undefined, undefined, failure);
  }

  #finish(
    actor: Actor,
    item: Item,
    at: number,
    event: string,
    effects: readonly Effect[] = NOTHING,
    sent: readonly OutboxRow[] = NOTHING,
    pending: readonly PendingEffect[] = NOTHING,
    failure: RuntimeError | undefined,
  ): void {
    const { turns: number, state, status } = actor;
    const { snapshot } = actor.tree as Tree;
    const timers = this.#isInspected() ? [...actor.timers.rows] : NOTHING;
    this.#commits.filling.turns.push({
      actor,
      item,
      at,
      event,
      number,
      state,
      status,
      timers,
      snapshot,
      effects,
      sent,
      pending,
      failure,
    });
  }

  /** What the kind's supervision says after a failure; returns what leaves. */
  #supervise(actor: Actor, at: number, failure: RuntimeError): readonly Effect[] {
    const { onFailure, failuresMax, withinMs } = actor.kind.supervision;
    actor.failedAt = [...actor.failedAt.filter((time) => at - time < withinMs), at].slice(
      -failuresMax - 1,
    );
    const isTooOften = actor.failedAt.length > failuresMax;
    if (onFailure === 'skip' && !isTooOften) return NOTHING;
    const stopped: Effect[] = (actor.tree as Tree)
      .runningChildren()
      .map(({ session }) => ({ type: 'stopChild', session }));
    actor.timers.rows.length = 0;
    if (onFailure === 'restart' && !isTooOften) {
      try {
        this.#effects.length = 0;
        actor.tree = actor.kind.chart.start(actor.address, actor.input, at, this.#effects);
        const leaving = this.#effects.filter((effect) => !actor.timers.apply(effect, at));
        for (const effect of leaving)
          if (effect.type === 'send' && isKept(effect))
            actor.outbox.add(wholeAddress(effect.to, this.#place), effect.event);
        return [
          ...stopped,
          ...leaving.filter((effect) => !(effect.type === 'send' && isKept(effect))),
        ];
      } catch {
        actor.timers.rows.length = 0;
      }
    }
    actor.status = 'stopped';
    actor.stopReason = `${failure.code}: ${failure.message}`;
    return stopped;
  }
}

/** Goes through the outbox: everything but hints, and answers, which nobody waits for after a crash. */
function isKept(effect: SendEffect): boolean {
  return !effect.isHint && !effect.to.startsWith('ask/');
}

/** Back to the record as last encoded; what waits for the actor stays. */
function revert(actor: Actor, item: Item, timer: TimerRow | undefined): void {
  if (actor.text === '') {
    actor.status = 'unborn';
    actor.tree = undefined;
    return;
  }
  const stored = decodeRecord(actor.kind, actor.address, actor.text);
  const { tree, status, stopReason, input, turns, timers, outbox, effects, term, state } = stored;
  Object.assign(actor, {
    tree,
    status,
    stopReason,
    input,
    turns,
    timers,
    outbox,
    effects,
    term,
    state,
  });
  if (timer !== undefined)
    timers.apply({ type: 'cancel', session: timer.session, id: timer.id }, 0);
  if (item.type === 'takeover') actor.term = item.fence;
}

/** The index entry that goes with the record. */
export function indexEntry(actor: Actor): IndexEntry {
  const { snapshot } = actor.tree as Tree;
  return {
    kind: actor.kind.name,
    status: actor.status as IndexEntry['status'],
    isPending:
      actor.outbox.size > 0 ||
      actor.effects.length > 0 ||
      actor.runningChildren > 0 ||
      (actor.tree as Tree).hasChildren,
    state: actor.state,
    tags: snapshot.tags.size === 0 ? NOTHING : [...snapshot.tags],
    dueAt: actor.timers.nextDueAt(),
    turnAt: actor.at,
  };
}

function absent({ address, status, stopReason }: Actor): RuntimeError {
  if (status === 'unborn')
    return new RuntimeError('ACTOR_UNKNOWN', `There is no actor ${address}.`, { address });
  const why = stopReason === undefined ? 'has ended' : `was stopped (${stopReason})`;
  return new RuntimeError('ACTOR_ENDED', `${address} ${why}; it takes no events.`, { address });
}

function bookkeeping(
  actor: Actor,
  item: Item,
  at: number,
  failure: RuntimeError | undefined,
): Turn {
  const { turns: number, state, status } = actor;
  const none = {
    timers: NOTHING,
    snapshot: undefined,
    effects: NOTHING,
    sent: NOTHING,
    pending: NOTHING,
  };
  return { actor, item, at, event: '', number, state, status, ...none, failure };
}

function eventOf(item: Item, timer: TimerRow | undefined): { readonly type: string } {
  if (item.type === 'message') return item.event;
  if (timer !== undefined) return timer.event;
  return { type: eventType(item, timer) };
}

export function eventType(item: Item, timer: TimerRow | undefined): string {
  switch (item.type) {
    case 'message':
      return item.event.type;
    case 'timersDue':
      return timer?.event.type ?? 'timer';
    case 'childSettled':
      return item.result.type === 'event' ? item.result.event.type : `child ${item.result.type}`;
    case 'takeover':
      return LEADERSHIP_ACQUIRED;
  }
}

function identity(item: Item): string | undefined {
  return item.type === 'message' ? item.from : undefined;
}

/** True when the address belongs to this place. */
export function isLocal(address: string, place: string): boolean {
  return placeOf(address) === place;
}
