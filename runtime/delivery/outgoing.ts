/**
 * The next frame to one node: messages and receipts that have not left yet.
 *
 * Guarantees: everything stands in the order in which it was added, with one exception that nobody can see:
 * receipts of one pair that come close together share an entry. Messages that follow each other from one
 * actor to another share one too, so what a batch says of its sender and receiver is said, sent and checked
 * once. It keeps no limit: its `length` is for a caller that does.
 */

import type { OutboxRow } from '../actor.ts';
import { knob } from '../base/knob.ts';
import type { Receipt } from './envelope.ts';
import {
  BATCH_MAX,
  encodeBatch,
  encodeEnvelope,
  encodeFrame,
  encodeReceipt,
  encodeTaken,
} from './frame.ts';

/** Messages of one sender to one receiver, each of which has to be taken before the next. */
interface Batch {
  readonly from: string;
  readonly to: string;
  readonly after: number;
  readonly rows: OutboxRow[];
  readonly ages: number[];
}

/** Messages of one sender that one receiver has taken. */
interface Taken {
  readonly from: string;
  readonly to: string;
  readonly counters: number[];
}

/** Messages, or receipts, put into one entry. */
const BATCH = knob('burst', BATCH_MAX);

/** About what an entry takes beside addresses and events. */
const ENTRY_LENGTH = 60;
const COUNTER_LENGTH = 8;

export class Outgoing {
  /** Characters of the frame, roughly. */
  length = 0;
  readonly #envelopes: Array<string | Batch> = [];
  readonly #receipts: Array<string | Taken> = [];
  /** The last entry, as long as messages may be added to it. */
  #batch: Batch | undefined;
  /** Entries to which receipts may be added, by sender. */
  readonly #taken = new Map<string, Taken>();

  addEnvelope(text: string): void {
    this.#batch = undefined;
    this.#envelopes.push(text);
    this.length += text.length;
  }

  /** A message that has an identity. */
  addRow(from: string, row: OutboxRow, after: number, ageMs = 0): void {
    const batch = this.#batch;
    this.length += row.text.length + COUNTER_LENGTH;
    if (batch !== undefined && isNext(batch, from, row, after)) {
      batch.rows.push(row);
      batch.ages.push(ageMs);
      return;
    }
    this.#batch = { from, to: row.to, after, rows: [row], ages: [ageMs] };
    this.#envelopes.push(this.#batch);
    this.length += from.length + row.to.length + ENTRY_LENGTH;
  }

  addReceipt(receipt: Receipt): void {
    const { from, to, counter, error } = receipt;
    if (error !== undefined) {
      const text = encodeReceipt(receipt);
      // What is taken afterwards is told of afterwards.
      this.#taken.delete(from);
      this.#receipts.push(text);
      this.length += text.length;
      return;
    }
    this.length += COUNTER_LENGTH;
    const taken = this.#taken.get(from);
    if (taken !== undefined && taken.to === to && taken.counters.length < BATCH.value) {
      taken.counters.push(counter);
      return;
    }
    const entry = { from, to, counters: [counter] };
    this.#taken.set(from, entry);
    this.#receipts.push(entry);
    this.length += from.length + to.length + ENTRY_LENGTH;
  }

  encode(): string {
    return encodeFrame(this.#envelopes.map(envelopeText), this.#receipts.map(receiptText));
  }
}

function isNext({ from, rows }: Batch, sender: string, row: OutboxRow, after: number): boolean {
  const last = rows[rows.length - 1] as OutboxRow;
  return (
    last.counter === after && from === sender && last.to === row.to && rows.length < BATCH.value
  );
}

function envelopeText(entry: string | Batch): string {
  if (typeof entry === 'string') return entry;
  const { from, to, after, rows, ages } = entry;
  if (rows.length === 1) return encodeEnvelope(from, rows[0] as OutboxRow, after, ages[0]);
  return encodeBatch(from, to, after, rows, ages);
}

function receiptText(entry: string | Taken): string {
  if (typeof entry === 'string') return entry;
  const { from, to, counters } = entry;
  if (counters.length > 1) return encodeTaken(from, to, counters);
  return encodeReceipt({ from, to, counter: counters[0] as number });
}
