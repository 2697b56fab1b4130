/**
 * Questions that actors of this node have taken and not answered yet.
 *
 * Guarantees: each of them is settled. The asker hears an answer, or an error as soon as nothing is
 * left that could give one: what the last performer threw, ASK_UNANSWERED where nothing was thrown,
 * ASK_LOST when this node ceases to host the actor.
 *
 * A question is held by an actor while its committed context, its deadlines or what it takes next
 * name it, or while it has children; by a performer or an action that was given it, until that has
 * finished. An actor that sends it on hands it over. Code that keeps a question anywhere else holds
 * nothing.
 */

import type { Item, Turn } from '../actor.ts';
import { messageOf, RuntimeError } from '../base/errors.ts';
import type { Logger } from '../base/limits.ts';
import type { Metrics } from '../base/metrics.ts';
import type { Asks, Hints } from '../delivery.ts';
import { REPLY_EVENT } from '../machine.ts';
import { isNamedIn, questionIn, someText } from './named-questions.ts';

export interface QuestionServices {
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly limits: { readonly questionsMax: number };
  readonly asks: Asks;
  readonly hints: Hints;
  /** Shard of these actors: it tells what one takes next. */
  shard(): { coming(address: string): Iterable<Item> };
}

interface OpenQuestion {
  readonly replyTo: string;
  /** The actor whose turn took it last. */
  actor: string;
  /** Actors that held it after their last released turn. */
  readonly holders: Set<string>;
  /** Performers and actions at work that were given it. */
  performers: number;
  /** The actor that holds it for what it takes next, and not by its context. */
  coming: string | undefined;
  /** Somebody else may answer it: an actor that it was sent on to. */
  isHandedOver: boolean;
  /** Error thrown by a performer that was given the question. */
  thrown: unknown;
}

export class Questions {
  readonly #services: QuestionServices;
  readonly #open = new Map<string, OpenQuestion>();
  readonly #held = new Map<string, Set<OpenQuestion>>();

  constructor(services: QuestionServices) {
    this.#services = services;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Opens a question that is asked without a turn, for a performer; refuses it where too many are open. */
  asked(replyTo: string, address: string): 'opened' | 'copy' | 'refused' {
    const question = this.#open.get(replyTo);
    if (question === undefined) return this.#begin(replyTo, address) ? 'opened' : 'refused';
    if (question.coming !== address) return 'copy';
    question.coming = undefined;
    this.#letGo(question, address);
    return 'opened';
  }

  /** A turn is durable, and what it asks for is about to leave. */
  taken(turn: Turn): void {
    const { actor, item, failure, snapshot, sent, effects } = turn;
    const isHeard = item.type === 'message' && failure === undefined;
    const replyTo = isHeard ? questionIn(item.event) : undefined;
    if (replyTo !== undefined && snapshot === undefined) this.#repeated(replyTo, actor.address);
    else if (replyTo !== undefined) this.#take(replyTo, actor.address);
    for (const question of this.#held.get(actor.address) ?? []) {
      const isSentOn =
        sent.some(({ event }) => isNamedIn(event, question.replyTo)) ||
        effects.some(
          (effect) => effect.type === 'send' && isNamedIn(effect.event, question.replyTo),
        );
      if (isSentOn) question.isHandedOver = true;
    }
  }

  /** All that the turn asked for has left. */
  released(turn: Turn): void {
    const { address } = turn.actor;
    for (const question of [...(this.#held.get(address) ?? [])]) {
      const { replyTo, coming } = question;
      // What took no event leaves the actor as it was: only what was to come has passed.
      const isHeld = turn.snapshot === undefined ? coming !== address : isKept(turn, replyTo);
      if (coming === address) question.coming = undefined;
      if (isHeld) continue;
      this.#letGo(question, address);
      this.#review(question);
    }
  }

  /** An answer leaves. */
  answered(replyTo: string): void {
    const question = this.#open.get(replyTo);
    if (question !== undefined) this.#close(question);
  }

  /** A performer is given this; the function that is returned is called when it has finished, or has thrown. */
  given(params: unknown): (thrown?: unknown) => void {
    const questions = this.#open.size === 0 ? [] : this.#namedIn(params);
    for (const question of questions) question.performers += 1;
    return (thrown) => {
      for (const question of questions) {
        question.performers -= 1;
        question.thrown ??= thrown;
        this.#review(question);
      }
    };
  }

  /** A message was refused for good, or failed its turn: a question that it handed over is answered by nobody. */
  undelivered(to: string, event: { readonly type: string }, error: RuntimeError): void {
    const replyTo = questionIn(event);
    if (replyTo === undefined) return;
    const question = this.#open.get(replyTo);
    if (question === undefined) {
      this.#tell(to, replyTo, error);
      return;
    }
    question.isHandedOver = false;
    question.thrown ??= error;
    if (question.coming === to) this.#letGo(question, to);
    this.#review(question);
  }

  /** Refuses a question that may not be answered here any more. */
  refuse(replyTo: string, why: string): void {
    const question = this.#open.get(replyTo);
    if (question !== undefined) this.#lose(question, why);
  }

  /** Drops all questions: nobody here speaks any more. */
  clear(): void {
    this.#open.clear();
    this.#held.clear();
  }

  /** Refuses all questions: nothing here answers any more. */
  refuseAll(why: string): void {
    for (const question of [...this.#open.values()]) this.#lose(question, why);
  }

  #take(replyTo: string, address: string): void {
    const question = this.#open.get(replyTo) ?? this.#begin(replyTo, address);
    if (question === undefined) return;
    question.actor = address;
    question.isHandedOver = false;
    this.#hold(question, address);
  }

  /** Opens a question, or refuses it: those that are open are answered sooner when no other takes their place. */
  #begin(replyTo: string, address: string): OpenQuestion | undefined {
    const { questionsMax } = this.#services.limits;
    if (this.#open.size >= questionsMax) {
      this.#tell(address, replyTo, lost(address, `${questionsMax} questions are open here.`));
      return undefined;
    }
    const question: OpenQuestion = {
      replyTo,
      actor: address,
      holders: new Set(),
      performers: 0,
      coming: undefined,
      isHandedOver: false,
      thrown: undefined,
    };
    this.#open.set(replyTo, question);
    return question;
  }

  /** The question was taken before: its answer may have been lost with its receipt. One that arrived came first. */
  #repeated(replyTo: string, address: string): void {
    if (this.#open.has(replyTo)) return;
    this.#refuse(address, replyTo, lost(address, 'It was answered before.'));
  }

  /** Refuses a question that nobody holds. */
  #review(question: OpenQuestion): void {
    const { actor, replyTo, holders, performers, isHandedOver, thrown } = question;
    if (this.#open.get(replyTo) !== question || holders.size > 0 || performers > 0) return;
    for (const item of this.#services.shard().coming(actor)) {
      if (item.type !== 'message' || !isNamedIn(item.event, replyTo)) continue;
      question.coming = actor;
      this.#hold(question, actor);
      return;
    }
    this.#close(question);
    if (!isHandedOver) this.#tell(actor, replyTo, unanswered(actor, thrown));
  }

  #lose(question: OpenQuestion, why: string): void {
    const { actor, replyTo } = question;
    this.#close(question);
    this.#tell(actor, replyTo, lost(actor, why));
  }

  #tell(actor: string, replyTo: string, error: RuntimeError): void {
    const { logger, metrics } = this.#services;
    metrics.questionsRefused += 1;
    const { code, message } = error;
    logger.warn({ address: actor, code, error: message }, 'a question got no answer');
    this.#refuse(actor, replyTo, error);
  }

  #refuse(actor: string, replyTo: string, error: RuntimeError): void {
    const { asks, hints } = this.#services;
    if (asks.owns(replyTo)) asks.refuse(replyTo, error);
    else hints.send(actor, replyTo, errorReply(error));
  }

  #hold(question: OpenQuestion, address: string): void {
    question.holders.add(address);
    const held = this.#held.get(address);
    if (held === undefined) this.#held.set(address, new Set([question]));
    else held.add(question);
  }

  #letGo(question: OpenQuestion, address: string): void {
    question.holders.delete(address);
    const held = this.#held.get(address);
    held?.delete(question);
    if (held?.size === 0) this.#held.delete(address);
  }

  #close(question: OpenQuestion): void {
    this.#open.delete(question.replyTo);
    for (const address of [...question.holders]) this.#letGo(question, address);
  }

  #namedIn(params: unknown): readonly OpenQuestion[] {
    const questions = new Set<OpenQuestion>();
    someText(params, (text) => {
      const question = this.#open.get(text);
      if (question !== undefined) questions.add(question);
      return false;
    });
    return [...questions];
  }
}

/** True when a later turn of the actor may answer: what it has ended with answers nothing. */
function isKept({ actor, status, snapshot }: Turn, replyTo: string): boolean {
  if (status !== 'active') return false;
  const { context, children } = snapshot as NonNullable<Turn['snapshot']>;
  if (actor.runningChildren > 0 || Object.keys(children).length > 0) return true;
  return (
    isNamedIn(context, replyTo) || actor.timers.rows.some(({ event }) => isNamedIn(event, replyTo))
  );
}

function errorReply(error: RuntimeError): { readonly type: string; readonly error: RuntimeError } {
  return { type: REPLY_EVENT, error };
}

function lost(address: string, why: string): RuntimeError {
  const what = `${address} has taken the question and does not answer it any more: ${why} Ask again where asking twice does no harm.`;
  return new RuntimeError('ASK_LOST', what, { address });
}

function unanswered(address: string, thrown: unknown): RuntimeError {
  if (thrown instanceof RuntimeError) return thrown;
  const why = thrown === undefined ? '' : `: ${messageOf(thrown)}`;
  const what = `${address} has taken the question, and nothing is left that would answer it${why}.`;
  return new RuntimeError('ASK_UNANSWERED', what, { address, cause: thrown });
}
