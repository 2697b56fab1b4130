/**
 * Silent places: those that messages wait for and that nobody answers from, because they are down,
 * cannot be reached, or are misspelt.
 *
 * Each is logged once when several tries have come to nothing, with the places that are known, and
 * once when it answers again. Nothing here decides: messages are tried for as long as they wait.
 */

import type { Lane } from '../actor.ts';
import { placeOf } from '../base/address.ts';
import type { Logger } from '../base/limits.ts';
import { findLikelyOf } from '../base/suggestion.ts';
import type { Peers } from './peers.ts';

/** A place that messages of this node wait for. */
export interface WaitingPlace {
  readonly place: string;
  /** The connected node that says it hosts it; undefined where none does: it is down, or misspelt. */
  readonly node: string | undefined;
  /** Messages that wait, and how many receivers they are for. */
  readonly messages: number;
  readonly receivers: number;
  /** Tries in a row that came to nothing. */
  readonly attempts: number;
}

/** Tries without an answer before a place is called silent: a takeover takes fewer. */
const SILENT_ATTEMPTS = 5;
/** Places that a log line names. */
const PLACES_SHOWN_MAX = 20;

export class Silence {
  readonly #peers: Peers;
  readonly #logger: Logger;
  readonly #silent = new Set<string>();

  constructor({ peers, logger }: { readonly peers: Peers; readonly logger: Logger }) {
    this.#peers = peers;
    this.#logger = logger;
  }

  get size(): number {
    return this.#silent.size;
  }

  /** A try of this lane has come to nothing. */
  tried({ to, attempts, rows }: Lane): void {
    const place = placeOf(to);
    if (attempts < SILENT_ATTEMPTS || this.#silent.has(place)) return;
    this.#silent.add(place);
    const known = this.#peers.places();
    const meant = known.includes(place) ? undefined : findLikelyOf(place, known);
    this.#logger.warn(
      { place, to, messages: rows.length, known: known.slice(0, PLACES_SHOWN_MAX), meant },
      'nobody answers from a place that messages wait for',
    );
  }

  answered(place: string): void {
    if (this.#silent.size > 0 && this.#silent.delete(place))
      this.#logger.info({ place }, 'a place answers again');
  }

  /** Waiting messages by place; a lane that goes on is not waiting. */
  describe(lanes: readonly Lane[]): readonly WaitingPlace[] {
    const byPlace = new Map<string, Lane[]>();
    for (const lane of lanes) {
      if (lane.attempts === 0 && !lane.isPaused) continue;
      const place = placeOf(lane.to);
      const others = byPlace.get(place);
      if (others === undefined) byPlace.set(place, [lane]);
      else others.push(lane);
    }
    return [...byPlace].map(([place, waiting]) => ({
      place,
      node: this.#peers.nodeOf(place),
      messages: waiting.reduce((sum, { rows }) => sum + rows.length, 0),
      receivers: new Set(waiting.map(({ to }) => to)).size,
      attempts: Math.max(...waiting.map(({ attempts }) => attempts)),
    }));
  }
}
