/**
 * Performers carry out what machines asked for by name, after the commit.
 *
 * A durable effect stands in the actor's record until its performer has finished: it is
 * tried again with growing pauses, and after a crash again from the start, always with
 * the same effect id. Any other action runs at most once. Nothing a performer throws
 * harms its actor or the node.
 *
 * Sends of a performer are over when the performer is: an effect is finished once all its sends are answered,
 * and afterwards it sends nothing. So its watermark can go with it. Answers to questions have no watermark. A question
 * that a performer was given and has not answered when it is over is refused, unless its actor still holds it
 * (questions.ts).
 */

import type { Actor, Kind, PendingEffect, Performer, PerformerCall } from '../actor.ts';
import { jitteredPauseMs } from '../base/backoff.ts';
import { messageOf, RuntimeError } from '../base/errors.ts';
import type { Logger, RuntimeLimits } from '../base/limits.ts';
import type { Cancel, Clock } from '../ports/clock.ts';
import type { Random } from '../ports/random.ts';
import { stackOf } from '../shard.ts';
import type { ActionEffect } from '../statechart.ts';

/** Makes a message repeatable: the sender's name and its counter. */
export interface Identity {
  readonly from: string;
  readonly counter: number;
  /** The sender's message that has to be taken before; 0 for none, left out where there is no order. */
  readonly after?: number;
}

export interface PerformerOutlet {
  /** An action that runs at most once failed. */
  failed(): void;
  /** A durable effect failed and is tried again. */
  retried(): void;
  /** Sends an event to the actor; what a durable effect sends has an identity, because it may be sent again. */
  send(
    address: string,
    event: { readonly type: string },
    identity: Identity | undefined,
  ): Promise<void>;
  /** A performer is given this; what is returned is called when it is over, with what it threw. */
  given(params: unknown): (thrown?: unknown) => void;
  /** Answers a question; nobody waits for the outcome. */
  reply(address: string, replyTo: string, value: unknown): void;
  /** A durable effect needs no further try: it succeeded, or was given up with `failure`. */
  finished(address: string, effect: PendingEffect, failure: RuntimeError | undefined): void;
}

/** A durable effect that failed and waits for its next try. */
export interface EffectRetry {
  readonly attempt: number;
  readonly dueAt: number;
  readonly error: string;
  readonly cancel: Cancel;
}

export class Performers {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #limits: RuntimeLimits;
  readonly #logger: Logger;
  readonly #outlet: PerformerOutlet;
  #abort = new AbortController();
  /** Durable effects that run or wait for their next try, by id. */
  readonly #running = new Map<string, EffectRetry | undefined>();
  #busy = 0;

  constructor(
    clock: Clock,
    random: Random,
    limits: RuntimeLimits,
    logger: Logger,
    outlet: PerformerOutlet,
  ) {
    this.#clock = clock;
    this.#random = random;
    this.#limits = limits;
    this.#logger = logger;
    this.#outlet = outlet;
  }

  /** Number of performers at work. */
  get busy(): number {
    return this.#busy;
  }

  /** An action that runs at most once: by a performer of its name, or as the machine implements it. */
  perform(actor: Actor, effect: ActionEffect, effectId: string, self: unknown): void {
    const { kind, address } = actor;
    const performer = kind.performer(effect.name);
    if (performer === undefined && effect.run === undefined) {
      kind.reportMissing(effect.name, this.#logger);
      return;
    }
    const isInline = performer === undefined;
    const given = isInline ? [effect.params, effect.args.event] : effect.params;
    this.#once(address, effect.name, given, () =>
      isInline
        ? effect.run?.({ ...effect.args, self }, effect.params)
        : this.#run(performer.run, address, { id: effectId, ...effect }),
    );
  }

  /** Answers a question that no turn was taken for. */
  answer({ kind, address }: Actor, name: string, params: object, id: string): void {
    const run = kind.performer(name)?.run as Performer;
    this.#once(address, name, params, () => this.#run(run, address, { id, params }));
  }

  #once(address: string, name: string, given: unknown, run: () => unknown): void {
    const over = this.#outlet.given(given);
    const failed = (thrown: unknown): void => {
      this.#report(address, name, thrown);
      over(thrown ?? new Error('the action threw nothing'));
    };
    try {
      if (!this.#watch(run(), over, failed)) over();
    } catch (thrown) {
      failed(thrown);
    }
  }

  /** A durable effect; harmless when it is under way already. */
  performDurably(address: string, kind: Kind, effect: PendingEffect): void {
    if (this.#running.has(effect.id)) return;
    this.#running.set(effect.id, undefined);
    void this.#attempt(address, kind, effect, 1, this.#outlet.given(effect.params));
  }

  /** Retry state of a durable effect that waits for its next try; undefined while it runs. */
  retryOf(effectId: string): EffectRetry | undefined {
    return this.#running.get(effectId);
  }

  /** Aborts what runs. Durable effects stay in their records. */
  stop(reason: RuntimeError): void {
    this.#abort.abort(reason);
    this.#abort = new AbortController();
    for (const retry of this.#running.values()) retry?.cancel();
    this.#running.clear();
  }

  async #attempt(
    address: string,
    kind: Kind,
    effect: PendingEffect,
    attempt: number,
    over: (thrown?: unknown) => void,
  ): Promise<void> {
    const performer = kind.performer(effect.name);
    const { signal } = this.#abort;
    let failure: unknown;
    this.#busy += 1;
    try {
      if (performer === undefined)
        throw new Error(`kind "${kind.name}" has no performer "${effect.name}"`);
      await this.#run(performer.run, address, effect, attempt);
    } catch (thrown) {
      failure = thrown ?? new Error('the performer threw nothing');
    }
    this.#busy -= 1;
    if (signal.aborted) return;
    const attemptsMax = performer?.attemptsMax ?? 1;
    if (failure !== undefined && attempt < attemptsMax) {
      this.#outlet.retried();
      const dueAt = this.#clock.now() + jitteredPauseMs(attempt, this.#limits, this.#random);
      const error = messageOf(failure);
      this.#logger.warn(
        {
          address,
          effect: effect.name,
          attempt,
          attemptsMax,
          dueAt,
          error,
          stack: stackOf(failure),
        },
        'a durable effect failed and is tried again',
      );
      const cancel = this.#clock.schedule(dueAt, () => {
        this.#running.set(effect.id, undefined);
        void this.#attempt(address, kind, effect, attempt + 1, over);
      });
      this.#running.set(effect.id, { attempt, dueAt, error, cancel });
      return;
    }
    const what = `Effect "${effect.name}" of ${address} failed ${attempt} times: ${messageOf(failure)}`;
    this.#outlet.finished(
      address,
      effect,
      failure === undefined
        ? undefined
        : new RuntimeError('EFFECT_FAILED', what, { address, cause: failure }),
    );
    // Only now: an actor that comes back into memory to note this must not begin it again.
    this.#running.delete(effect.id);
    over(failure);
  }

  /**
   * Runs a performer. The promise that it returns, if any, settles as the performer did, once its sends
   * are answered.
   */
  #run(
    run: Performer,
    address: string,
    { id, params }: Pick<PendingEffect, 'id' | 'params'>,
    durableAttempt?: number,
  ): unknown {
    const { signal } = this.#abort;
    const sends: Array<Promise<void>> = [];
    let isOver = false;
    const send: PerformerCall['send'] = (event) => {
      if (isOver || signal.aborted) return Promise.reject(overError(id));
      const isRepeatable = durableAttempt !== undefined;
      const identity = isRepeatable ? { from: senderOf(id), counter: sends.length + 1 } : undefined;
      const sent = this.#outlet.send(address, event, identity);
      // A performer that does not wait for it does not want to hear of it either.
      sent.catch(() => {});
      sends.push(sent);
      return sent;
    };
    const reply: PerformerCall['reply'] = (replyTo, value) => {
      // Params are not checked when they run: a value that is no text is no question.
      if (typeof replyTo === 'string' && replyTo !== '' && !signal.aborted)
        this.#outlet.reply(address, replyTo, value);
    };
    const attempt = durableAttempt ?? 1;
    const end = async (): Promise<void> => {
      isOver = true;
      await Promise.allSettled(sends);
    };
    let running: unknown;
    try {
      running = run({ params, effectId: id, address, attempt, signal, send, reply });
    } catch (thrown) {
      return end().then(() => {
        throw thrown;
      });
    }
    if (typeof (running as PromiseLike<unknown> | undefined)?.then === 'function')
      return settled(running as PromiseLike<unknown>, end);
    isOver = true;
    return sends.length > 0 ? end() : undefined;
  }

  /** False of what is over already. */
  #watch(running: unknown, over: () => void, failed: (thrown: unknown) => void): boolean {
    if (typeof (running as PromiseLike<unknown> | undefined)?.then !== 'function') return false;
    this.#busy += 1;
    Promise.resolve(running as PromiseLike<unknown>)
      .then(() => over(), failed)
      .finally(() => {
        this.#busy -= 1;
      });
    return true;
  }

  #report(address: string, action: string, thrown: unknown): void {
    this.#outlet.failed();
    this.#logger.error(
      { address, action, error: messageOf(thrown), stack: stackOf(thrown) },
      'an action failed after its turn was committed',
    );
  }
}

async function settled(running: PromiseLike<unknown>, end: () => Promise<void>): Promise<void> {
  try {
    await running;
  } finally {
    await end();
  }
}

/** The sender of what an effect's performer sends. */
export function senderOf(effectId: string): string {
  return `effect:${effectId}`;
}

function overError(effectId: string): RuntimeError {
  const what = `Effect "${effectId}" is over; await what its performer sends before it returns.`;
  return new RuntimeError('ABORTED', what);
}
