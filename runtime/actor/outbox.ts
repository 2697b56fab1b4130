/**
 * Outbox: the messages an actor has sent and not yet seen acknowledged, part of its record.
 *
 * A message gets its counter in the commit that sends it and keeps it for ever: with
 * the sender's address it is the message's identity. Each receiver has a lane of its
 * own, in the order of sending; at most 64 of a lane are under way, and a receiver that
 * is down holds up nobody else. Rows whose turn is not committed yet stand in their lane
 * like the others, but only actors of the same place may take them: such a turn is committed with
 * the sender's, or after it, and a message that was taken in time is in no record of its sender. Nothing is ever dropped here: a full outbox
 * refuses the turn that wants to send more.
 */

import type { RuntimeError } from '../base/errors.ts';
import { timeText } from '../base/json-cache.ts';
import { knob } from '../base/knob.ts';
import type { Cancel } from '../ports/clock.ts';

/** Messages of one sender to one receiver that may be under way at once. */
export const UNDER_WAY_MAX = knob('underWayMax', 64);

/** A node that has just started knows its kinds a little later. */
const KIND_ATTEMPTS_MAX = 10;

export interface OutboxRow {
  readonly counter: number;
  readonly to: string;
  readonly event: { readonly type: string };
  /** The event as JSON, made once for the record and the wire. */
  readonly text: string;
  /** Time when it was said, by the node's clock; unknown where an earlier release stored it. */
  readonly at?: number | undefined;
}

/** Outbox as stored: `[counter, to, event, at]`, without `at` by earlier releases. */
export type StoredOutbox = ReadonlyArray<
  readonly [number, string, { readonly type: string }, number?]
>;

/** Least age that is told: a message that has waited for less is as old as its way. */
const AGE_MIN_MS = 100;

/**
 * Time since it was said, told with every copy that is sent; 0 when that is not worth telling, or not
 * known.
 */
export function ageOf({ at = Number.POSITIVE_INFINITY }: OutboxRow, now: number): number {
  return now - at < AGE_MIN_MS ? 0 : Math.floor(now - at);
}

/** Lane: what one receiver has still to take, and what delivery.ts notes about it. */
export class Lane {
  readonly to: string;
  readonly rows: OutboxRow[] = [];
  /** Number of rows, from the first, that have been sent and not been answered. */
  underWay = 0;
  /** True if those wait in a mailbox of this node: not one of them can be lost. */
  isHere: boolean = false;
  /** Tries without any success since the last one. */
  attempts = 0;
  /** Reason why the receiver did not take the first row for now, when it said so last. */
  refusal: RuntimeError | undefined;
  /** Answers in a row that the receiver's kind is not known; silence is not among them. */
  kindRefusals = 0;
  /** Time when something was taken last since the pause began that `cancelRetry` would end. */
  progressedAt: number | undefined;
  /** True while nothing is sent before the pause is over. */
  isPaused: boolean = false;
  /** Rows refused for good and not durably noted as such: until then nothing that was sent later may arrive. */
  refused: Set<number> | undefined;
  cancelRetry: Cancel | undefined;

  constructor(to: string) {
    this.to = to;
  }

  /** Index of a row; -1 when it was settled. */
  indexOf(counter: number): number {
    // Answers come in order.
    if (this.rows[0]?.counter === counter) return 0;
    return this.rows.findIndex((row) => row.counter === counter);
  }

  /** True if nothing before this row waits for an answer. */
  isFirst(index: number): boolean {
    for (let before = 0; before < index; before += 1) if (!this.isRefused(before)) return false;
    return true;
  }

  isRefused(index: number): boolean {
    return this.refused?.has((this.rows[index] as OutboxRow).counter) === true;
  }

  /**
   * True if a refusal may be another one later. Only the first of a lane can know that its receiver is not
   * there.
   */
  isRetried(index: number, { code, retryable }: RuntimeError): boolean {
    if (retryable) return true;
    if (code === 'KIND_UNKNOWN') return this.kindRefusals < KIND_ATTEMPTS_MAX;
    return (code === 'ACTOR_UNKNOWN' || code === 'ACTOR_ENDED') && !this.isFirst(index);
  }

  refuse(counter: number): void {
    this.refused ??= new Set();
    this.refused.add(counter);
  }

  /** The refusal is durably noted. */
  noted(counter: number): void {
    this.refused?.delete(counter);
    if (this.refused?.size === 0) this.refused = undefined;
  }

  /** The counter of the message that must be taken before the one at `index`; 0 for none. */
  before(index: number): number {
    return index === 0 ? 0 : (this.rows[index - 1] as OutboxRow).counter;
  }
}

export class Outbox {
  /** The last counter given; it goes on when an address is used again. */
  counter: number;
  /** Time when the first counter was given; undefined before, and where a former release gave it. */
  since: number | undefined;
  /** Rows up to this counter are durable and may leave. */
  durable: number;
  /** Set when its actor goes back to its record: rows that were not durable then were never sent. */
  isForgotten: boolean = false;
  /** Number of rows in all lanes. */
  size = 0;
  readonly #lanes = new Map<string, Lane>();
  /** Texts of all rows, one behind the other, as long as rows come to new lanes only. */
  #encoded: string | undefined;

  constructor(counter = 0, stored: StoredOutbox = [], since?: number) {
    this.counter = counter;
    this.since = since;
    this.durable = counter;
    for (const [number, to, event, at] of stored)
      this.#put({ counter: number, to, event, text: JSON.stringify(event), at });
  }

  /** `at`: the moment of the turn; left out by senders that have none. */
  add(to: string, event: { readonly type: string }, at = 0): OutboxRow {
    if (this.counter === 0) this.#begin(at);
    const said = { to, event, text: JSON.stringify(event) };
    const row = { counter: this.counter + 1, ...said, at: at === 0 ? undefined : at };
    this.counter += 1;
    this.#put(row);
    return row;
  }

  /** Removes an acknowledged row; undefined when it was gone already. */
  settle(to: string, counter: number): OutboxRow | undefined {
    const lane = this.#lanes.get(to);
    const index = lane?.indexOf(counter) ?? -1;
    if (lane === undefined || index < 0) return undefined;
    this.#encoded = undefined;
    const row = lane.rows[index];
    if (index === 0) lane.rows.shift();
    else lane.rows.splice(index, 1);
    if (index < lane.underWay) lane.underWay -= 1;
    this.size -= 1;
    if (lane.rows.length === 0) this.#lanes.delete(to);
    return row;
  }

  /** Takes back what was added after the row of this counter; none of it has left. */
  rollBack(counter: number): void {
    this.counter = counter;
    this.#encoded = undefined;
    for (const lane of [...this.#lanes.values()]) {
      while ((lane.rows.at(-1)?.counter ?? 0) > counter) {
        lane.rows.pop();
        this.size -= 1;
      }
      if (lane.rows.length === 0) this.#lanes.delete(lane.to);
    }
  }

  /** True once the turn that sent it is durable. */
  isDurable(counter: number): boolean {
    return counter <= this.durable;
  }

  /** Undefined when there is nothing for `to`. */
  lane(to: string): Lane | undefined {
    return this.#lanes.get(to);
  }

  lanes(): Iterable<Lane> {
    return this.#lanes.values();
  }

  /** JSON text, empty without rows. */
  encode(): string {
    if (this.size === 0) return '';
    if (this.#encoded === undefined) {
      let text = '';
      for (const { rows } of this.#lanes.values()) for (const row of rows) text = joined(text, row);
      this.#encoded = text;
    }
    return `[${this.#encoded}]`;
  }

  /**
   * Begins to number. The sender may have lived under this address before, in a record that is gone, and
   * those it spoke to then have marked its numbers: it begins above them, or they would take it for the old
   * one.
   */
  #begin(at: number): void {
    this.since = at;
    this.counter = Math.max(0, Math.floor(at));
  }

  #put(row: OutboxRow): void {
    let lane = this.#lanes.get(row.to);
    if (lane === undefined) {
      lane = new Lane(row.to);
      this.#lanes.set(row.to, lane);
      if (this.#encoded !== undefined) this.#encoded = joined(this.#encoded, row);
    } else this.#encoded = undefined;
    lane.rows.push(row);
    this.size += 1;
  }
}

/** A row as it stands in the record, behind others. */
function joined(others: string, { counter, to, text, at }: OutboxRow): string {
  // An address has nothing in it that JSON would escape.
  const row = `[${counter},"${to}",${text}${at === undefined ? '' : `,${timeText(at)}`}]`;
  return others === '' ? row : `${others},${row}`;
}
