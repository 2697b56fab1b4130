/**
 * The messages an actor has sent and not yet seen acknowledged, part of its record.
 *
 * A message gets its counter in the commit that sends it and keeps it for ever: with
 * the sender's address it is the message's identity. Each receiver has a lane of its
 * own; at most 64 of a lane are under way, the rest wait in order, and a receiver that
 * is down holds up nobody else. Nothing is ever dropped here: a full outbox refuses
 * the turn that wants to send more.
 */

import { WINDOW_MAX } from './inbox.ts';

export interface OutboxRow {
  readonly counter: number;
  readonly to: string;
  readonly event: { readonly type: string };
  /** The event as JSON, made once for the record and the wire. */
  readonly text: string;
}

/** As stored: `[counter, to, event]`. */
export type StoredOutbox = ReadonlyArray<readonly [number, string, { readonly type: string }]>;

export class Outbox {
  /** The last counter given; it goes on when an address is used again. */
  counter: number;
  /** How many rows there are in all lanes. */
  size = 0;
  readonly #lanes = new Map<string, Map<number, OutboxRow>>();

  constructor(counter = 0, stored: StoredOutbox = []) {
    this.counter = counter;
    for (const [number, to, event] of stored)
      this.#put({ counter: number, to, event, text: JSON.stringify(event) });
  }

  add(to: string, event: { readonly type: string }): OutboxRow {
    this.counter += 1;
    const row = { counter: this.counter, to, event, text: JSON.stringify(event) };
    this.#put(row);
    return row;
  }

  /** Removes an acknowledged row; undefined when it was gone already. */
  settle(to: string, counter: number): OutboxRow | undefined {
    const lane = this.#lanes.get(to);
    const row = lane?.get(counter);
    if (lane === undefined || row === undefined) return undefined;
    lane.delete(counter);
    this.size -= 1;
    if (lane.size === 0) this.#lanes.delete(to);
    return row;
  }

  /** The lowest counter towards `to` that is not yet acknowledged: everything below is settled. */
  settledBelow(to: string): number {
    for (const counter of this.#lanes.get(to)?.keys() ?? []) return counter;
    return this.counter + 1;
  }

  /** The rows of one lane that may be under way now. */
  sendable(to: string): OutboxRow[] {
    const rows: OutboxRow[] = [];
    for (const row of this.#lanes.get(to)?.values() ?? []) {
      if (rows.length >= WINDOW_MAX) break;
      rows.push(row);
    }
    return rows;
  }

  receivers(): Iterable<string> {
    return this.#lanes.keys();
  }

  /** JSON text, empty without rows. */
  encode(): string {
    if (this.size === 0) return '';
    let text = '[';
    for (const [to, lane] of this.#lanes) {
      const name = JSON.stringify(to);
      for (const row of lane.values())
        text += `${text.length > 1 ? ',' : ''}[${row.counter},${name},${row.text}]`;
    }
    return `${text}]`;
  }

  #put(row: OutboxRow): void {
    const lane = this.#lanes.get(row.to) ?? new Map<number, OutboxRow>();
    this.#lanes.set(row.to, lane.set(row.counter, row));
    this.size += 1;
  }
}
