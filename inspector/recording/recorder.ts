/**
 * Recorder: keeps what happens at a node, with events and contexts, in a bounded ring in memory.
 *
 * It reads the inspection stream only while it records. Contexts are kept as patches upon the one before; when the
 * oldest lines go, what they say of contexts is kept as the base of the next, so that what is left is whole. Secrets
 * are replaced before anything is kept.
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

export interface RecorderRules {
  readonly kinds?: readonly string[] | undefined;
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
}

export class Recorder {
  readonly #parts: RecorderParts;
  #rules: RecorderRules;
  #lines: Array<{ readonly line: RecordedLine; readonly bytes: number }> = [];
  #bytes = 0;
  #turns = 0;
  #skipped = 0;
  readonly #contexts = new ContextLines();
  /** Context of each actor before the first line that is kept. */
  readonly #base = new Map<string, unknown>();
  #addresses: ReadonlySet<string> | undefined;

  constructor(parts: RecorderParts, rules: RecorderRules) {
    this.#parts = parts;
    this.#rules = rules;
  }

  get size(): { readonly lines: number; readonly turns: number; readonly bytes: number } {
    return { lines: this.#lines.length, turns: this.#turns, bytes: this.#bytes };
  }

  /** Records these alone from now on; undefined: all that the rules say. */
  narrow(addresses: readonly string[] | undefined, kinds: readonly string[] | undefined): void {
    this.#addresses = addresses === undefined ? undefined : new Set(addresses);
    this.#rules = { ...this.#rules, kinds };
  }

  readonly read = (record: InspectionRecord): void => {
    const { at, node } = record;
    switch (record.type) {
      case 'turn':
        if (this.#isWanted(record.address)) this.#turn(record);
        return;
      case 'messageSent':
      case 'messageFenced':
        if (this.#isWanted(record.from) || this.#isWanted(record.to))
          this.#keep(lineOf(record, at, node));
        return;
      case 'timers':
      case 'actor':
        if (this.#isWanted(record.address)) this.#keep(lineOf(record, at, node));
        return;
      case 'undelivered':
      case 'lease':
        this.#keep(lineOf(record, at, node));
        return;
      case 'commitRefused':
        this.#keep({
          type: 'commitRefused',
          at,
          node,
          error: record.error,
          addresses: record.addresses,
        });
        return;
      case 'peer':
        this.#keep({ type: 'link', at, node, peer: record.peer, change: record.change });
    }
  };

  /** Adds a line of what no inspection stream tells. */
  add(line: RecordedLine): void {
    this.#keep(line);
  }

  /** Lines of a recording, header and definitions first; of these actors alone where some are named. */
  lines(addresses?: readonly string[]): Array<RecordedHeader | RecordedLine> {
    const { node, place, version } = this.#parts;
    const at = this.#parts.now();
    const wanted =
      addresses === undefined || addresses.length === 0 ? undefined : new Set(addresses);
    const shown = this.#lines.filter(({ line }) => wanted === undefined || isAbout(line, wanted));
    const kinds = new Set(
      shown.flatMap(({ line }) => ('address' in line ? [kindOf(line.address)] : [])),
    );
    const header: RecordedHeader = {
      type: 'recording',
      version: RECORDING_VERSION,
      escapement: version,
      at,
      title: `${node} (${place})`,
      nodes: [{ node, place }],
    };
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
    return [header, ...definitions, ...skipped, ...rest];
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
      if (line.turn === turn)
        return isKnown && line.contextBytes === undefined ? { value } : undefined;
    }
    return undefined;
  }

  /** Turns of an actor that are recorded, oldest first. */
  turnsOf(address: string): TurnOfLine[] {
    return this.#lines.flatMap(({ line }) =>
      line.type === 'turn' && line.address === address ? [line] : [],
    );
  }

  #turn(record: Extract<InspectionRecord, { type: 'turn' }>): void {
    const { redact } = this.#rules;
    const { address, from } = record;
    const event = redacted(record.event, redact) as TurnOfLine['event'];
    const { dueAt } = record.event as { dueAt?: number };
    this.#keep({
      ...turnLineOf({ ...record, event, dueAt, by: commanderOf(from) }),
      ...this.#contexts.of(address, record.context, redact),
    });
    this.#turns += 1;
    while (this.#turns > this.#rules.turnsMax) this.#drop();
  }

  #isWanted(address: string): boolean {
    if (this.#addresses?.has(address) === true) return true;
    const { kinds } = this.#rules;
    if (kinds === undefined) return this.#addresses === undefined;
    const end = address.indexOf('/');
    return end > 0 && kinds.includes(address.slice(0, end));
  }

  #keep(line: RecordedLine): void {
    const bytes = JSON.stringify(line).length;
    this.#lines.push({ line, bytes });
    this.#bytes += bytes;
    while (this.#bytes > this.#rules.bytesMax && this.#lines.length > 1) this.#drop();
  }

  #drop(): void {
    const dropped = this.#lines.shift();
    if (dropped === undefined) return;
    this.#bytes -= dropped.bytes;
    this.#skipped += 1;
    const { line } = dropped;
    if (line.type !== 'turn') return;
    this.#turns -= 1;
    if (line.context !== undefined) this.#base.set(line.address, line.context);
    else if (line.patch !== undefined)
      this.#base.set(line.address, patched(this.#base.get(line.address), line.patch));
  }
}

function isAbout(line: RecordedLine, wanted: ReadonlySet<string>): boolean {
  if ('address' in line) return wanted.has(line.address);
  if (line.type === 'message' || line.type === 'fate')
    return wanted.has(line.from) || wanted.has(line.to);
  if (line.type === 'undelivered') return wanted.has(line.to);
  return true;
}
