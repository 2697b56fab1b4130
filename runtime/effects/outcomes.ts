/**
 * Outcomes that records note beside turns: messages that were taken or refused, durable effects that were
 * carried out or given up.
 *
 * Nothing is lost between two records: what is given up leaves the sender's outbox, or the
 * effects of its actor, in the same write that puts it among the undelivered messages. Where
 * the sender's machine wants to hear of it, it leaves in the turn that takes the news instead.
 */

import type { EventObject } from 'xstate';
import type { Actor, OutboxRow, PendingEffect } from '../actor.ts';
import { MESSAGE_REFUSED, newUndelivered } from '../actor.ts';
import type { RuntimeError } from '../base/errors.ts';
import type { Inspection } from '../base/inspection.ts';
import type { Logger } from '../base/limits.ts';
import type { Delivery, DeliveryOwner } from '../delivery.ts';
import type { Clock } from '../ports/clock.ts';
import type { Random } from '../ports/random.ts';
import type { Shard } from '../shard.ts';
import { stackOf } from '../shard.ts';
import { type Performers, senderOf } from './performers.ts';
import type { Questions } from './questions.ts';

export interface LedgerServices {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly inspection: Inspection;
  readonly delivery: Delivery;
  readonly performers: Performers;
  readonly questions: Questions;
  shard(): Shard;
}

export class Ledger implements DeliveryOwner {
  readonly #services: LedgerServices;

  constructor(services: LedgerServices) {
    this.#services = services;
  }

  /** An actor's message was taken; where its turn failed, the receiver has kept it. */
  taken(from: string, row: OutboxRow, failure?: RuntimeError): void {
    if (failure !== undefined) this.#services.questions.undelivered(row.to, row.event, failure);
    const actor = this.#settled(from, row);
    if (actor !== undefined) this.#services.shard().settled(actor, row.to);
  }

  /** An actor's message was refused for good: its machine hears of it, or it is kept with the undelivered ones. */
  refused(from: string, row: OutboxRow, refusal: RuntimeError, noted: () => void): void {
    this.#services.questions.undelivered(row.to, row.event, refusal);
    const sender = this.#find(from);
    const giveUp = (): void => {
      const actor = this.#settled(from, row);
      if (actor === undefined) return;
      if (isMoot(actor, refusal)) this.#drop(actor, row, refusal, noted);
      else this.#giveUp(actor, row.to, row.event, refusal, { noted });
    };
    if (sender?.status !== 'active' || !sender.kind.wantsRefusals) {
      giveUp();
      return;
    }
    const { to, event } = row;
    const told = { type: MESSAGE_REFUSED, to, event, code: refusal.code };
    this.#services.shard().notify(from, { type: 'refusal', event: told, row, noted, giveUp });
  }

  /** A durable effect was carried out, or given up with `failure`. */
  finished(address: string, effectId: string, failure: RuntimeError | undefined): void {
    const actor = this.#find(address);
    const effect = actor?.effects.find(({ id }) => id === effectId);
    if (actor === undefined || effect === undefined) return;
    actor.effects = actor.effects.filter(({ id }) => id !== effectId);
    if (failure === undefined) {
      actor.inbox.forget(senderOf(effectId));
      this.#services.shard().touch(actor);
      return;
    }
    // Its watermark stays: it may be tried again by hand, and then repeats what it sent.
    const event = { type: `effect ${effect.name}`, params: effect.params } as EventObject;
    this.#giveUp(actor, address, event, failure, { effect });
  }

  /** Tries a durable effect again that was given up, under its old id. */
  retry(address: string, effect: PendingEffect): void {
    const actor = this.#find(address);
    if (actor === undefined || actor.effects.some(({ id }) => id === effect.id)) return;
    actor.effects = [...actor.effects, effect];
    const { shard, performers } = this.#services;
    shard().giveUp(actor, undefined, () => performers.performDurably(address, actor.kind, effect));
  }

  #find(address: string): Actor | undefined {
    const shard = this.#services.shard();
    return shard.isHosting ? shard.find(address) : undefined;
  }

  /** The sender of a row, without the row. */
  #settled(from: string, row: OutboxRow): Actor | undefined {
    const actor = this.#find(from);
    if (actor?.outbox.settle(row.to, row.counter) !== undefined) return actor;
    // Gone: nothing of its old life goes on.
    if (actor === undefined) this.#services.delivery.forget(from);
    return undefined;
  }

  /** Drops a message from which nothing can follow any more. */
  #drop(actor: Actor, { to, event }: OutboxRow, refusal: RuntimeError, noted: () => void): void {
    const { shard, logger, inspection } = this.#services;
    const what = { to, from: actor.address, event: event.type };
    logger.debug(what, 'a message crossed the ends of its sender and its receiver');
    shard().settled(actor, to);
    noted();
    const error = refusal.toJSON();
    if (inspection.hasReaders)
      inspection.tell({ type: 'undelivered', to, event, error, isMoot: true });
  }

  #giveUp(
    actor: Actor,
    to: string,
    event: { readonly type: string },
    failure: RuntimeError,
    { effect, noted }: { readonly effect?: PendingEffect; readonly noted?: () => void },
  ): void {
    const { clock, random, logger, inspection, shard } = this.#services;
    const error = failure.toJSON();
    const cause = stackOf(failure.cause);
    logger.warn(
      { to, from: actor.address, event: event.type, ...error, stack: cause },
      'a message could not be delivered',
    );
    const what = { to, event, from: actor.address, error, cause, ...(effect && { effect }) };
    shard().giveUp(actor, newUndelivered(what, clock.now(), random), noted);
    if (inspection.hasReaders) inspection.tell({ type: 'undelivered', to, event, error });
  }
}

/** A machine that hears of its refusals has come to its end without it, and the receiver has ended as well. */
const isMoot = ({ status, kind }: Actor, { code }: RuntimeError): boolean =>
  code === 'ACTOR_ENDED' && status === 'done' && kind.wantsRefusals;
