/**
 * Reads of an actor, here or on the node that hosts it, without giving it a turn.
 *
 * Guarantees: nothing is committed, and the actor does not notice. Answers are bounded in size. The
 * host of an actor on another node answers, to nodes that may read there (peer-authority.ts); when
 * it is away or does not answer, that is an error with a code.
 */

import type { EventObject } from 'xstate';
import { type HistoryRow, parseHistoryRow } from '../actor.ts';
import { placeOf } from '../base/address.ts';
import { RuntimeError } from '../base/errors.ts';
import type { RuntimeLimits } from '../base/limits.ts';
import {
  type AskOptions,
  type Envelope,
  type Hints,
  INSPECT_QUESTION,
  type Routes,
} from '../delivery.ts';
import type { Performers } from '../effects.ts';
import { REPLY_EVENT } from '../machine.ts';
import type { Clock } from '../ports/clock.ts';
import type { Store } from '../ports/store.ts';
import type { Shard } from '../shard.ts';
import type { Calls } from './calls.ts';
import { explain } from './explain.ts';
import type { Watchers } from './watchers.ts';

export interface ReadServices {
  readonly place: string;
  readonly clock: Clock;
  readonly limits: RuntimeLimits;
  readonly store: Store;
  readonly shard: Shard;
  readonly performers: Performers;
  readonly routes: Routes;
  readonly hints: Hints;
  readonly calls: Calls;
  readonly watchers: Watchers;
}

export interface HistoryOptions extends AskOptions {
  /** Rows at most, the last ones. Default 100. */
  readonly limit?: number;
}

/** The state of an actor, and the deadlines that it waits for in it, by their names; both of one turn. */
export interface Waits {
  readonly state: string;
  readonly deadlines: readonly string[];
}

/** Question of one node to another about an actor; without `what`, its persisted snapshot. */
interface Question {
  readonly what?: unknown;
  readonly limit?: unknown;
  readonly query?: unknown;
  readonly replyTo?: unknown;
}

/** Answers what the inspector of another node asks about this one. */
export type InspectionResponder = (query: unknown, peer: string) => Promise<unknown>;

const NO_INSPECTOR =
  'No inspector is on at this node; it is switched on there, by its own options.';
const HISTORY_ROWS = 100;
const EXPLAINED_ROWS = 20;

export class Reads {
  /** Set while an inspector is on here. */
  responder: InspectionResponder | undefined;
  readonly #services: ReadServices;

  constructor(services: ReadServices) {
    this.#services = services;
  }

  async explain(address: string, options: AskOptions = {}): Promise<string> {
    const { routes, calls } = this.#services;
    if (routes.isHere(address)) return this.#explain(address);
    const text = await calls.read(address, { what: 'explain' }, options);
    if (typeof text === 'string') return text;
    throw unread(address, 'explain');
  }

  async fetchHistory(
    address: string,
    { limit, ...options }: HistoryOptions = {},
  ): Promise<readonly HistoryRow[]> {
    const { routes, calls } = this.#services;
    checkLimit(limit);
    if (routes.isHere(address)) return this.history(address, limit);
    const rows = await calls.read(address, { what: 'history', limit }, options);
    if (Array.isArray(rows)) return rows;
    throw unread(address, 'history');
  }

  /** History of an actor of this place. @throws {RuntimeError} OPTION_INVALID, NOT_HOSTED */
  history(address: string, limit: number = HISTORY_ROWS): readonly HistoryRow[] {
    const { store, routes } = this.#services;
    checkLimit(limit);
    if (!routes.isHere(address)) throw routes.elsewhere(address, 'fetchHistory');
    return store.history(address, limit).map(parseHistoryRow);
  }

  /** Waits of an actor of this place; undefined when there is none. @throws {RuntimeError} NOT_HOSTED */
  waits(address: string): Waits | undefined {
    const { routes, shard } = this.#services;
    if (!routes.isHere(address)) throw routes.elsewhere(address, 'explain');
    const actor = shard.find(address);
    if (actor === undefined) return undefined;
    return { state: actor.state, deadlines: actor.timers.rows.map(({ id }) => id) };
  }

  /** Answers another node. */
  answer(peer: string, envelope: Envelope): void {
    const { watchers, hints } = this.#services;
    const { to, event } = envelope;
    const { replyTo, ...question } = event as Question;
    if (typeof replyTo !== 'string') return;
    if (question.what === INSPECT_QUESTION) {
      void this.#inspected(peer, question.query).then((answer) =>
        hints.send(to, replyTo, { type: REPLY_EVENT, ...answer } as EventObject),
      );
      return;
    }
    let answer: { readonly value?: unknown; readonly error?: unknown };
    try {
      if (isWatchQuestion(question.what)) {
        watchers[question.what](peer, envelope);
        return;
      }
      answer = { value: this.#told(to, question) };
    } catch (error) {
      answer = { error };
    }
    hints.send(to, replyTo, { type: REPLY_EVENT, ...answer } as EventObject);
  }

  async #inspected(peer: string, query: unknown): Promise<{ value?: unknown; error?: unknown }> {
    const { responder } = this;
    if (responder === undefined) return { error: new RuntimeError('NOT_ALLOWED', NO_INSPECTOR) };
    try {
      return { value: await responder(query, peer) };
    } catch (error) {
      return { error };
    }
  }

  #told(address: string, { what, limit }: Question): unknown {
    const { calls, shard, limits, routes } = this.#services;
    if (what === undefined) return calls.persisted(address);
    if (!shard.isHosting) throw routes.notHosted(placeOf(address));
    if (what === 'explain') return this.#explain(address);
    if (what !== 'history')
      throw new RuntimeError('ENVELOPE_MALFORMED', 'Nothing is known here that is asked for so.');
    const rows = this.history(address, limit as number | undefined);
    return newestWithin(rows, limits.messageBytesMax);
  }

  #explain(address: string): string {
    const { place, clock, shard, performers, routes } = this.#services;
    return explain(address, shard.find(address), {
      now: clock.now(),
      place,
      history: this.history(address, EXPLAINED_ROWS),
      retryOf: (effectId) => performers.retryOf(effectId),
      hostOf: (target) => routes.hostOf(target),
    });
  }
}

function isWatchQuestion(what: unknown): what is 'watch' | 'unwatch' {
  return what === 'watch' || what === 'unwatch';
}

/** @throws {RuntimeError} OPTION_INVALID */
function checkLimit(limit: number | undefined): void {
  if (limit === undefined || (Number.isSafeInteger(limit) && limit >= 1)) return;
  throw new RuntimeError('OPTION_INVALID', `"limit" must be a positive integer, got ${limit}.`);
}

/** The last rows that fit into a message, with room for what is around them. */
function newestWithin(rows: readonly HistoryRow[], bytesMax: number): readonly HistoryRow[] {
  let first = rows.length;
  let bytes = 0;
  while (first > 0) {
    // A code unit of JSON text takes three bytes at most.
    bytes += 3 * JSON.stringify(rows[first - 1]).length;
    if (bytes > bytesMax / 2) break;
    first -= 1;
  }
  return rows.slice(first);
}

/** Another release answers in its own way. */
function unread(address: string, what: string): RuntimeError {
  const text = `The node that hosts ${address} does not know how to answer "${what}": it runs another release.`;
  return new RuntimeError('ENVELOPE_MALFORMED', text, { address });
}
