/**
 * Lines of turns of each actor: those that are durable, and those that have been shown, one after the
 * other, each once, by the holder that committed them.
 *
 * Guarantees: a turn that was committed and never shown, because its node died or was deposed
 * first, leaves no gap; neither does one that a paused node shows late, after somebody else has gone
 * on. Turns at places that keep nothing are not judged.
 */

import type { HistoryRecord } from '../history.ts';
import { lostDisk } from './reading-disks.ts';
import { type CommitRecord, Holders, isWritten, type NodeRecord } from './reading-holders.ts';
import { turnsOf } from './reading-records.ts';

export type TurnRecord = Extract<HistoryRecord, { readonly type: 'turn' }>;
type FaultRecord = Extract<HistoryRecord, { readonly type: 'fault' }>;

/** What one holder has committed of an actor and not yet shown. */
interface Span {
  readonly holder: number;
  /** The turn to be shown next, and the last that is durable. */
  next: number;
  readonly top: number;
}

export interface Line {
  holder: number;
  next: number;
  top: number;
  /** The record that was written last. */
  text: string;
  /** This holder has gone on from the record of another, and shown no turn since. */
  isTakenOver: boolean;
  /** What was shown last. */
  shown: TurnRecord | undefined;
  /** Holders before that may still show something; hardly ever any. */
  earlier: readonly Span[];
}

/**
 * `first`: of a holder that has taken over. `late`: durable before the takeover, and shown after it.
 * `unwritten`: shown before it was durable. `again`, `skipped`: not the one after the last.
 */
export type TurnOrder = 'next' | 'first' | 'late' | 'unwritten' | 'again' | 'skipped';

export interface PlacedTurn {
  readonly order: TurnOrder;
  /** The turn that was to be shown; the last durable one when it is not durable. */
  readonly expected: number;
}

/** `unshown`: turns of the holder before that nobody saw. */
export type TakeoverListener = (line: Line, address: string, unshown: number) => void;

export class Lines {
  readonly holders = new Holders();
  readonly #lines = new Map<string, Line>();
  readonly #kept = new Set<string>();
  readonly #takenOver: TakeoverListener | undefined;

  /** Hears of every actor that another holder writes for the first time, before that counts. */
  constructor(takenOver?: TakeoverListener) {
    this.#takenOver = takenOver;
  }

  node(record: NodeRecord): void {
    this.holders.node(record);
  }

  fault(record: FaultRecord): void {
    const place = lostDisk(record);
    if (place === undefined) return;
    this.#kept.delete(place);
    for (const address of this.#lines.keys())
      if (address.endsWith(`@${place}`)) this.#lines.delete(address);
  }

  commit(record: CommitRecord): void {
    if (!isWritten(record)) return;
    const holder = this.holders.ofCommit(record);
    this.#kept.add(record.place);
    for (const { address, record: text } of record.writes) {
      if (text === null) this.#lines.delete(address);
      else this.#write(address, text, holder);
    }
  }

  of(address: string): Line | undefined {
    return this.#lines.get(address);
  }

  entries(): Iterable<readonly [address: string, line: Line]> {
    return this.#lines;
  }

  isKept(place: string): boolean {
    return this.#kept.has(place);
  }

  /** Whether a node tells of an actor that another holder has gone on with. */
  isLate({ node, address }: { readonly node: string; readonly address: string }): boolean {
    const line = this.#lines.get(address);
    return line !== undefined && line.holder !== this.holders.ofNode(node);
  }

  /** Where a turn that is shown stands among those of its actor; undefined when nobody can say. */
  turn(record: TurnRecord): PlacedTurn | undefined {
    if (!this.#kept.has(record.place)) return undefined;
    const line = this.#lines.get(record.address);
    if (line === undefined) return { order: 'unwritten', expected: 0 };
    const { turn } = record;
    const holder = this.holders.ofNode(record.node);
    const span = line.holder === holder ? line : line.earlier.find((one) => one.holder === holder);
    if (span === undefined || turn > span.top)
      return { order: 'unwritten', expected: span?.top ?? line.top };
    const expected = span.next;
    if (turn !== expected) return { order: turn < expected ? 'again' : 'skipped', expected };
    span.next = turn + 1;
    if (span !== line) return { order: 'late', expected };
    line.shown = record;
    if (!line.isTakenOver) return { order: 'next', expected };
    line.isTakenOver = false;
    return { order: 'first', expected };
  }

  #write(address: string, text: string, holder: number): void {
    const top = turnsOf(text);
    const line = this.#lines.get(address);
    if (line === undefined) {
      const unseen = { isTakenOver: false, shown: undefined, earlier: [] };
      this.#lines.set(address, { holder, next: 1, top, text, ...unseen });
      return;
    }
    if (line.holder !== holder) this.#takeOver(line, address, holder);
    line.top = top;
    line.text = text;
  }

  #takeOver(line: Line, address: string, holder: number): void {
    const { next, top } = line;
    const unshown = top + 1 - next;
    this.#takenOver?.(line, address, unshown);
    if (unshown > 0) line.earlier = [...line.earlier.slice(-3), { holder: line.holder, next, top }];
    line.holder = holder;
    line.next = top + 1;
    line.isTakenOver = true;
  }
}
