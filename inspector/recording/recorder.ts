/**
 * Recorder: keeps what happens at a node, with events and contexts, in a bounded ring in memory.
 *
 * It is told the inspection stream while something is recorded. Contexts are kept as patches upon the one before; when
 * the oldest lines go, what they say of contexts is kept as the base of the next, so that what is left is whole. What
 * is remembered of an actor goes with the last of its lines. Secrets are replaced before anything is kept.
 */

import { kindOf } from '../../runtime/base/address.ts';
import type { InspectionRecord } from '../../runtime/base/inspection.ts';
import {
  type KindDefinition,
  RECORDING_VERSION,
  type RecordedHeader,
  type RecordedLine,
} from '../protocol.ts';
import { redacted } from '../shown.ts';
import { commanderOf } from '../turn-lines.ts';
import { ContextLines } from './context-lines.ts';
import { lineOf } from './line-of.ts';
import { patched } from './patch.ts';
import { type TurnOfLine, turnLineOf } from './turn-line.ts';
import { isOfAll, isWantedBy, type Wish } from './wish.ts';

export interface RecorderRules {
  readonly turnsMax: number;
  readonly bytesMax: number;
  readonly redact?: ((path: string, value: unknown) => unknown) | undefined;
}

export interface RecorderParts {
  now(): number;
  definition(kind: string): KindDefinition | undefined;
  readonly node: string;
  readonly place: string;
  readonly version: string;
  /** Keeps a line beyond this process; true: what it has from now on is apart from what it had. */
  keep?(line: RecordedLine, text: string): boolean;
}

export class Recorder {
  readonly #parts: RecorderParts;
  readonly #rules: RecorderRules;
  #lines: Array<{ readonly line: RecordedLine; readonly bytes: number }> = [];
  #bytes = 0;
  #turns = 0;
  #skipped = 0;
  readonly #contexts = new ContextLines();
  /** Context of each actor before the first line that is kept. */
  readonly #base = new Map<string, unknown>();
  /** Turns in the ring by actor. */
  readonly #turnsOf = new Map<string, number>();
  /** What is to be recorded: everything, unless told. */
  wishes: readonly Wish[] = [{}];

  constructor(parts: RecorderParts, rules: RecorderRules) {
    this.#parts = parts;
    this.#rules = rules;
  }

  get size(): { readonly lines: number; readonly turns: number; readonly bytes: number } {
    return { lines: this.#lines.length, turns: this.#turns, bytes: this.#bytes };
  }

  /** Actors of which something beyond their lines is remembered. */
  get remembered(): number {
    return Math.max(this.#base.size, this.#turnsOf.size, this.#contexts.size);
  }

  readonly isWanted = (address: string): boolean =>
    this.wishes.some((wish) => isWantedBy(wish, address));

  readonly read = (record: InspectionRecord): void => {
    const { at, node } = record;
    switch (record.type) {
      case 'turn':
        if (this.isWanted(record.address)) this.#turn(record);
        return;
      case 'messageSent':
      case 'messageFenced':
        if (this.isWanted(record.from) || this.isWanted(record.to))
          this.add(lineOf(record, at, node));
        return;
      case 'timers':
      case 'actor':
        if (this.isWanted(record.address)) this.add(lineOf(record, at, node));
        return;
      case 'lease':
        // Another node may have hosted it meanwhile: what is recorded of its actors there lies between.
        this.#contexts.clear();
        this.add(lineOf(record, at, node));
        return;
      case 'undelivered':
        this.add(lineOf(record, at, node));
        return;
      case 'commit': {
        const { turns, records } = record;
        // Of some actors alone it would say nothing.
        if (this.wishes.some(isOfAll)) this.add({ type: 'commit', at, node, turns, records });
        return;
      }
      case 'commitRefused': {
        const { error, addresses } = record;
        this.add({ type: 'commitRefused', at, node, error, addresses });
        return;
      }
      case 'peer':
        this.add({ type: 'link', at, node, peer: record.peer, change: record.change });
    }
  };

  /** Adds a line, also one that no inspection stream tells. */
  add(line: RecordedLine): void {
    const text = JSON.stringify(line);
    this.#push(line, text.length);
    if (this.#parts.keep?.(line, text) === true) this.#contexts.clear();
  }

  /** Takes over what was recorded before, by an earlier life of this node; the oldest of it goes at the limits. */
  restore(lines: Iterable<RecordedLine>): void {
    for (const line of lines) this.#push(line, JSON.stringify(line).length);
    this.#contexts.clear();
  }

  /** The last line that fits. */
  last<TType extends RecordedLine['type']>(
    type: TType,
  ): Extract<RecordedLine, { type: TType }> | undefined {
    const found = this.#lines.findLast(({ line }) => line.type === type);
    return found?.line as Extract<RecordedLine, { type: TType }> | undefined;
  }

  /** Moment of the last line; undefined of an empty one. */
  get lastAt(): number | undefined {
    return this.#lines.at(-1)?.line.at;
  }

  has(address: string): boolean {
    return this.#turnsOf.has(address);
  }

  /** Lines of a recording, header and definitions first; of these actors alone where some are named. */
  lines(addresses?: readonly string[]): Array<RecordedHeader | RecordedLine> {
    const { node } = this.#parts;
    const at = this.#parts.now();
    const wanted =
      addresses === undefined || addresses.length === 0 ? undefined : new Set(addresses);
    const shown = this.#lines.filter(({ line }) => wanted === undefined || isAbout(line, wanted));
    const kinds = new Set(
      shown.flatMap(({ line }) =>
        'address' in line && line.address ? [kindOf(line.address)] : [],
      ),
    );
    const definitions = [...kinds].flatMap((kind): RecordedLine[] => {
      const definition = this.#parts.definition(kind);
      return definition === undefined ? [] : [{ type: 'definition', at, node, definition }];
    });
    const skipped: RecordedLine[] =
      this.#skipped === 0 ? [] : [{ type: 'skipped', at, node, count: this.#skipped }];
    const based = new Set<string>();
    const rest = shown.map(({ line }) => {
      if (line.type !== 'turn' || line.patch === undefined || based.has(line.address)) {
        if (line.type === 'turn') based.add(line.address);
        return line;
      }
      based.add(line.address);
      const { patch, ...whole } = line;
      return { ...whole, context: patched(this.#base.get(line.address), patch) };
    });
    return [headerOf(this.#parts), ...definitions, ...skipped, ...rest];
  }

  /** Context after a turn, where it is still known. */
  contextAt(address: string, turn: number): { readonly value: unknown } | undefined {
    let value = this.#base.get(address);
    let isKnown = this.#base.has(address);
    for (const { line } of this.#lines) {
      if (line.type !== 'turn' || line.address !== address || line.turn > turn) continue;
      if (line.context !== undefined) {
        value = line.context;
        isKnown = true;
      } else if (line.patch !== undefined) value = patched(value, line.patch);
      else isKnown = false;
      if (line.turn === turn) return isKnown ? { value } : undefined;
    }
    return undefined;
  }

  /** Turns of an actor that are recorded, oldest first. */
  turnsOf(address: string): TurnOfLine[] {
    if (!this.has(address)) return [];
    return this.#lines.flatMap(({ line }) =>
      line.type === 'turn' && line.address === address ? [line] : [],
    );
  }

  #turn(record: Extract<InspectionRecord, { type: 'turn' }>): void {
    const { redact } = this.#rules;
    const { address, from } = record;
    const event = redacted(record.event, redact) as TurnOfLine['event'];
    const { dueAt } = record.event as { dueAt?: number };
    this.add({
      ...turnLineOf({ ...record, event, dueAt, by: commanderOf(from) }),
      ...this.#contexts.of(address, record.context, redact),
    });
  }

  #push(line: RecordedLine, bytes: number): void {
    this.#lines.push({ line, bytes });
    this.#bytes += bytes;
    if (line.type === 'turn') {
      this.#turns += 1;
      this.#turnsOf.set(line.address, (this.#turnsOf.get(line.address) ?? 0) + 1);
    }
    const { turnsMax, bytesMax } = this.#rules;
    while (this.#turns > turnsMax) this.#drop();
    while (this.#bytes > bytesMax && this.#lines.length > 1) this.#drop();
  }

  #drop(): void {
    const dropped = this.#lines.shift();
    if (dropped === undefined) return;
    this.#bytes -= dropped.bytes;
    this.#skipped += 1;
    const { line } = dropped;
    if (line.type !== 'turn') return;
    const { address, context, patch } = line;
    this.#turns -= 1;
    const left = (this.#turnsOf.get(address) ?? 1) - 1;
    if (left === 0) {
      this.#turnsOf.delete(address);
      this.#base.delete(address);
      this.#contexts.forget(address);
      return;
    }
    this.#turnsOf.set(address, left);
    if (context !== undefined) this.#base.set(address, context);
    else if (patch !== undefined) this.#base.set(address, patched(this.#base.get(address), patch));
    else this.#base.delete(address);
  }
}

/** Header of what a node records. */
export function headerOf({
  now,
  node,
  place,
  version,
}: Pick<RecorderParts, 'now' | 'node' | 'place' | 'version'>): RecordedHeader {
  return {
    type: 'recording',
    version: RECORDING_VERSION,
    escapement: version,
    at: now(),
    title: `${node} (${place})`,
    nodes: [{ node, place }],
  };
}

function isAbout(line: RecordedLine, wanted: ReadonlySet<string>): boolean {
  if ('address' in line && line.address !== undefined) return wanted.has(line.address);
  if (line.type === 'message' || line.type === 'fate')
    return wanted.has(line.from) || wanted.has(line.to);
  if (line.type === 'undelivered') return wanted.has(line.to);
  return true;
}
