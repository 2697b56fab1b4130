/**
 * A hash over a history, taken while it grows: the same run gives the same text, anywhere.
 *
 * Two 32 bit lanes over the texts and numbers of each record. It tells runs apart; it keeps no
 * secrets and stops nobody who wants two runs to look alike.
 */

import type { HistoryRecord } from './history.ts';

export class TraceHash {
  #one = 0x9e3779b9;
  #other = 0x85ebca6b;

  take(record: HistoryRecord): void {
    this.#number(record.atMs);
    this.#text(record.type);
    this.#text(record.node);
    switch (record.type) {
      case 'turn':
        this.#text(record.address);
        this.#text(record.event.type);
        this.#text(record.state);
        this.#number(record.turn);
        this.#number(record.takenAt);
        return;
      case 'sent':
        this.#text(record.from);
        this.#text(record.to);
        this.#text(record.event.type);
        this.#number(record.counter);
        return;
      case 'timers':
        this.#text(record.address);
        for (const { id, dueAt } of record.timers) {
          this.#text(id);
          this.#number(dueAt);
        }
        return;
      case 'frame':
        this.#text(record.to);
        this.#text(record.change);
        this.#text(record.frame);
        return;
      case 'commit':
        this.#text(record.change);
        this.#number(record.fence);
        for (const { address, record: text } of record.writes) {
          this.#text(address);
          this.#text(text ?? '');
        }
        return;
      case 'undelivered':
        this.#text(record.to);
        this.#text(record.event.type);
        this.#text(record.error.code);
        return;
      case 'actor':
        this.#text(record.address);
        this.#text(record.change);
        return;
      case 'log':
        this.#text(record.message);
        return;
      case 'mark':
        this.#text(record.mark);
        return;
      case 'node':
      case 'lease':
      case 'fault':
      case 'work':
        this.#text(record.change);
        return;
      case 'call':
        this.#text(record.call);
        return;
      case 'answer':
        this.#text(record.outcome);
        return;
    }
  }

  text(): string {
    return hex(this.#one) + hex(this.#other);
  }

  #text(text: string): void {
    let one = this.#one ^ text.length;
    let other = this.#other;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      one = Math.imul(one ^ code, 0x01000193);
      other = Math.imul(other ^ code, 0x5bd1e995) ^ (other >>> 15);
    }
    this.#one = one;
    this.#other = other;
  }

  #number(value: number): void {
    this.#one = Math.imul(this.#one ^ (value | 0), 0x01000193);
    const high = Math.floor(value / 0x1_0000_0000) | 0;
    this.#other = Math.imul(this.#other ^ (value | 0) ^ high, 0x5bd1e995) ^ (this.#other >>> 13);
  }
}

function hex(lane: number): string {
  return (lane >>> 0).toString(16).padStart(8, '0');
}
