/**
 * Messages of the jobs of datacenters to the jobs of gates that have to arrive: when each was said, when
 * the last copy of it left, and whether it was taken.
 *
 * Judged by what travels, not by anybody's record. A word that left with its sender's disk is forgotten.
 */

import { placeOf } from '../../../runtime/base/address.ts';
import type { HistoryRecord } from '../../history.ts';
import { lostDisk, openFrame, type Watcher } from '../../invariants.ts';

export interface Word {
  readonly counter: number;
  readonly event: { readonly type: string };
  /** In true time. */
  readonly saidMs: number;
  /** When the copy left that was sent last, before it was taken; undefined before the first. */
  leftMs: number | undefined;
  /** When it was taken; undefined before. */
  takenMs: number | undefined;
  /** Time for which it was longer on its way than the fastest of the words that were taken just before. */
  heldMs: number;
  isTaken: boolean;
}

type SentRecord = Extract<HistoryRecord, { readonly type: 'sent' }>;
type TurnRecord = Extract<HistoryRecord, { readonly type: 'turn' }>;
type FrameRecord = Extract<HistoryRecord, { readonly type: 'frame' }>;
type FaultRecord = Extract<HistoryRecord, { readonly type: 'fault' }>;

/** Few, so that clocks that drift apart do not count. */
const STARTS_MAX = 5;

export class Words {
  /** Words by sender and receiver, in the order in which they were said. */
  readonly #words = new Map<string, Word[]>();
  /** When a word of the pair was taken last, one without guarantee included. */
  readonly #takenMs = new Map<string, number>();
  /** Starts of the sender's job, as the last words of the pair tell that had it: by true time, less their way. */
  readonly #starts = new Map<string, readonly number[]>();

  watcher(): Watcher {
    return {
      sent: (record) => this.#sent(record),
      frame: (record) => this.#frame(record),
      turn: (record) => this.#turn(record),
      fault: (record) => this.#fault(record),
    };
  }

  /** All that were said since the sender's job began. */
  of(from: string, to: string): readonly Word[] {
    return this.#words.get(`${from} ${to}`) ?? [];
  }

  underWay(from: string, to: string): readonly Word[] {
    return this.of(from, to).filter(({ isTaken }) => !isTaken);
  }

  takenMs(from: string, to: string): number {
    return this.#takenMs.get(`${from} ${to}`) ?? Number.NEGATIVE_INFINITY;
  }

  #sent({ from, to, counter, event, atMs }: SentRecord): void {
    if (!from.startsWith('job/') || !to.startsWith('gate-job/')) return;
    const key = `${from} ${to}`;
    let words = this.#words.get(key);
    if (words === undefined) {
      words = [];
      this.#words.set(key, words);
    }
    // A record that went back says again what it had said.
    if (words.some((word) => word.counter >= counter)) words.length = 0;
    words.push({
      counter,
      event,
      saidMs: atMs,
      leftMs: undefined,
      takenMs: undefined,
      heldMs: 0,
      isTaken: false,
    });
  }

  #frame({ change, frame, atMs }: FrameRecord): void {
    if (change !== 'sent' || !frame.includes('"gate-job/')) return;
    for (const { from, to, counter } of openFrame(frame).envelopes) {
      const word = this.#words.get(`${from} ${to}`)?.find((one) => one.counter === counter);
      if (word !== undefined && !word.isTaken) word.leftMs = atMs;
    }
  }

  #turn({ address, from, counter, event, atMs }: TurnRecord): void {
    if (!address.startsWith('gate-job/')) return;
    const said = event as {
      readonly figures?: { readonly elapsedMs: number };
      readonly datacenter?: string;
    };
    const hinted = said.figures === undefined ? undefined : said.datacenter;
    const jobId = address.slice('gate-job/'.length, address.lastIndexOf('@'));
    const sender = from ?? (hinted === undefined ? undefined : `job/${jobId}@${hinted}`);
    if (sender === undefined) return;
    const key = `${sender} ${address}`;
    this.#takenMs.set(key, atMs);
    const heldMs = this.#heldMs(key, atMs - (said.figures?.elapsedMs ?? Number.NaN));
    // They are taken in order, so all before this one are settled.
    for (const word of this.#words.get(key) ?? [])
      if (counter !== undefined && word.counter <= counter && !word.isTaken) {
        word.isTaken = true;
        word.takenMs = atMs;
        word.heldMs = heldMs;
      }
  }

  #heldMs(key: string, start: number): number {
    if (Number.isNaN(start)) return 0;
    const before = this.#starts.get(key) ?? [];
    this.#starts.set(key, [...before, start].slice(-STARTS_MAX));
    return before.length === 0 ? 0 : start - Math.min(...before);
  }

  #fault(record: FaultRecord): void {
    const place = lostDisk(record);
    if (place === undefined) return;
    for (const key of [...this.#words.keys()]) {
      const [from = '', to = ''] = key.split(' ');
      if (placeOf(from) === place || placeOf(to) === place) {
        this.#words.delete(key);
        this.#takenMs.delete(key);
        this.#starts.delete(key);
      }
    }
  }
}
