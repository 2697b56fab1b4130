/**
 * Files of a recording that outlives its process: segments of JSON lines in a folder, each of them a recording by
 * itself, the oldest removed at the limits.
 *
 * Lines are gathered and written by `flush`, in one go; a process that is killed loses what was not. A line that was cut
 * off by that ends its segment. One process writes to a folder; any may read it at the same time.
 */

import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { kindOf } from '../../runtime/base/address.ts';
import type { RecordedHeader, RecordedLine } from '../protocol.ts';
import { headerOf, type RecorderParts } from './recorder.ts';

export interface SegmentLimits {
  readonly turnsMax: number;
  readonly bytesMax: number;
}

interface Segment {
  readonly number: number;
  bytes: number;
  turns: number;
}

/** Segments that a full recording has: at its limits it loses the oldest, which is such a part of it. */
const SEGMENTS = 8;
const FILE = /^(\d{8})\.jsonl$/;

export class Segments {
  readonly #folder: string;
  readonly #limits: SegmentLimits;
  readonly #parts: Omit<RecorderParts, 'keep'>;
  readonly #segments: Segment[] = [];
  #open: { readonly fd: number; readonly kinds: Set<string> } | undefined;
  #waiting: string[] = [];

  /** Makes the folder. @throws what the file system does */
  constructor(folder: string, limits: SegmentLimits, parts: Omit<RecorderParts, 'keep'>) {
    this.#folder = folder;
    this.#limits = limits;
    this.#parts = parts;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  }

  /** True while something waits to be written. */
  get isWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** Lines of earlier lives, oldest first; `damaged` tells files of which a part could not be read. */
  restore(): { readonly lines: RecordedLine[]; readonly damaged: readonly string[] } {
    const lines: RecordedLine[] = [];
    const damaged: string[] = [];
    for (const number of numbersIn(this.#folder)) {
      const read = readSegment(join(this.#folder, nameOf(number)));
      const own = read.lines.filter((line) => line.type !== 'definition');
      for (const line of own) lines.push(line);
      const turns = own.filter(({ type }) => type === 'turn').length;
      this.#segments.push({ number, bytes: read.bytes, turns });
      if (read.isDamaged) damaged.push(nameOf(number));
    }
    this.#prune();
    return { lines, damaged };
  }

  /** True: the segment is full, and the next line begins another. @throws what the file system does */
  append(line: RecordedLine, text: string): boolean {
    const { kinds } = this.#open ?? this.#begin();
    const segment = this.#segments.at(-1) as Segment;
    const kind = 'address' in line && line.address !== undefined ? kindOf(line.address) : '';
    if (kind !== '' && !kinds.has(kind)) {
      kinds.add(kind);
      const definition = this.#parts.definition(kind);
      const { at, node } = line;
      if (definition !== undefined)
        this.#gather(segment, JSON.stringify({ type: 'definition', at, node, definition }));
    }
    this.#gather(segment, text);
    if (line.type === 'turn') segment.turns += 1;
    this.#prune();
    const { turnsMax, bytesMax } = this.#limits;
    if (segment.bytes < bytesMax / SEGMENTS && segment.turns < turnsMax / SEGMENTS) return false;
    this.close();
    return true;
  }

  /** @throws what the file system does */
  flush(): void {
    const waiting = this.#waiting;
    if (waiting.length === 0 || this.#open === undefined) return;
    this.#waiting = [];
    writeSync(this.#open.fd, waiting.join(''));
  }

  /** @throws what the file system does */
  close(): void {
    if (this.#open === undefined) return;
    const { fd } = this.#open;
    try {
      this.flush();
    } finally {
      this.#open = undefined;
      closeSync(fd);
    }
  }

  #begin(): { readonly fd: number; readonly kinds: Set<string> } {
    const number = (this.#segments.at(-1)?.number ?? 0) + 1;
    // What it says of contexts and events is for its owner alone.
    const fd = openSync(join(this.#folder, nameOf(number)), 'wx', 0o600);
    const segment = { number, bytes: 0, turns: 0 };
    this.#segments.push(segment);
    this.#open = { fd, kinds: new Set() };
    this.#gather(segment, JSON.stringify(headerOf(this.#parts)));
    return this.#open;
  }

  #gather(segment: Segment, text: string): void {
    const line = `${text}\n`;
    segment.bytes += Buffer.byteLength(line);
    this.#waiting.push(line);
  }

  #prune(): void {
    const { turnsMax, bytesMax } = this.#limits;
    const sum = (of: 'bytes' | 'turns'): number =>
      this.#segments.reduce((all, segment) => all + segment[of], 0);
    while (this.#segments.length > 1 && (sum('bytes') > bytesMax || sum('turns') > turnsMax)) {
      const [oldest] = this.#segments.splice(0, 1);
      if (oldest !== undefined) rmSync(join(this.#folder, nameOf(oldest.number)), { force: true });
    }
  }
}

/** Lines of all segments of a folder with their first header; empty where it has none. */
export function linesOfSegments(folder: string): Array<RecordedHeader | RecordedLine> {
  let header: RecordedHeader | undefined;
  const lines: RecordedLine[] = [];
  for (const number of numbersIn(folder)) {
    const read = readSegment(join(folder, nameOf(number)));
    header ??= read.header;
    lines.push(...read.lines);
    if (!read.isDamaged) continue;
    const { at, node } = read.lines.at(-1) ?? { at: read.header?.at ?? 0, node: '' };
    lines.push({ type: 'skipped', at, node, count: 1 });
  }
  return header === undefined ? [] : [header, ...lines];
}

interface ReadSegment {
  readonly header: RecordedHeader | undefined;
  readonly lines: RecordedLine[];
  readonly bytes: number;
  /** Something other than the end of its last line is missing. */
  readonly isDamaged: boolean;
}

function readSegment(path: string): ReadSegment {
  const text = readFileSync(path, 'utf8');
  const bytes = Buffer.byteLength(text);
  const whole = text.slice(0, text.lastIndexOf('\n') + 1).split('\n');
  whole.pop();
  const lines: RecordedLine[] = [];
  let header: RecordedHeader | undefined;
  for (const one of whole) {
    let line: RecordedHeader | RecordedLine;
    try {
      line = JSON.parse(one) as RecordedHeader | RecordedLine;
    } catch {
      // Contexts behind it are patches upon what is missing.
      return { header, lines, bytes, isDamaged: true };
    }
    if (line.type === 'recording') header ??= line;
    else if (header === undefined) return { header, lines: [], bytes, isDamaged: true };
    else lines.push(line);
  }
  return { header, lines, bytes, isDamaged: false };
}

function numbersIn(folder: string): number[] {
  const names = readdirSync(folder);
  return names
    .flatMap((name) => (FILE.test(name) ? [Number(name.slice(0, 8))] : []))
    .sort(byNumber);
}

const byNumber = (one: number, other: number): number => one - other;
const nameOf = (number: number): string => `${String(number).padStart(8, '0')}.jsonl`;
