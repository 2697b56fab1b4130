/**
 * Reads a system-call trace of `strace -f -y` and says whether everything that was acknowledged
 * had been synced by then.
 *
 * The rule: when an acknowledgement begins to be written, every write to the data file that began
 * before it is finished, and either went through a descriptor opened with O_DSYNC or O_SYNC, or is
 * followed by an fdatasync or fsync of the file that began after the write was finished, is
 * finished itself and did not fail. And each acknowledgement has writes of its own: one without
 * any was for something that had not been handed over.
 *
 * The same holds for names: what was made, renamed or linked below `entries` before an
 * acknowledgement is followed by an fsync of the directory it stands in. A file whose name is not
 * on disk is gone after a power cut, however well its bytes were synced.
 */

import { dirname } from 'node:path';

export interface TraceQuestion {
  /** How the path of the file ends. */
  readonly file: string;
  /** What an acknowledgement begins with, on standard output. */
  readonly acknowledgement: string;
  /** The directory in which, and below which, names have to be on disk as well. */
  readonly entries?: string;
}

export interface TraceVerdict {
  readonly acknowledgements: number;
  readonly writes: number;
  readonly syncs: number;
  /** One sentence for each acknowledgement that came too early. */
  readonly faults: readonly string[];
}

interface Write {
  readonly line: number;
  isFinished: boolean;
  isSynced: boolean;
}

/** A name that is not known to be on disk, and the line of the call that made it. */
interface Entry {
  readonly path: string;
  readonly line: number;
  isMade: boolean;
}

/** A call whose end is on a later line. */
interface Unfinished {
  readonly head: string;
  readonly line: number;
  readonly finish: (result: string) => void;
}

const WRITES = new Set(['write', 'writev', 'pwrite64', 'pwritev', 'pwritev2']);
const SYNCS = new Set(['fsync', 'fdatasync']);
const CALL = /^(\d+)\s+(\w+)\((.*)$/;
const RESUMED = /^(\d+)\s+<\.\.\. (\w+) resumed>(.*)$/;
const UNFINISHED = / <unfinished \.\.\.>$/;
const DESCRIPTOR = /^(\d+)<([^>]*)>/;
const OPENED = /= (\d+)<([^>]*)>\s*$/;
const FAILED = /\)\s+= -1 /;
/** The last path among the arguments is what is made; strace puts the directory before a relative one. */
const MADE = /(?:AT_FDCWD(?:<([^>]*)>)?, )?"([^"]+)"[^"]*$/;
const MAKES = new Set(['mkdir', 'mkdirat', 'rename', 'renameat', 'renameat2', 'link', 'linkat']);
const STANDARD_OUTPUT = '1';

export function checkTrace(text: string, question: TraceQuestion): TraceVerdict {
  const reader = new TraceReader(question);
  for (const [index, line] of text.split('\n').entries()) reader.read(line, index + 1);
  return reader.verdict();
}

class TraceReader {
  readonly #question: TraceQuestion;
  readonly #unfinished = new Map<string, Unfinished>();
  /** Descriptors of the file that sync each write by themselves. */
  readonly #synchronous = new Set<string>();
  /** Writes that are not known to be on disk. */
  #open: Write[] = [];
  #entries: Entry[] = [];
  #writes = 0;
  #syncs = 0;
  #acknowledgements = 0;
  #writesSince = 0;
  readonly #faults: string[] = [];

  constructor(question: TraceQuestion) {
    this.#question = question;
  }

  read(line: string, number: number): void {
    const resumed = RESUMED.exec(line);
    if (resumed !== null) {
      const [, thread = '', , rest = ''] = resumed;
      const call = this.#unfinished.get(thread);
      this.#unfinished.delete(thread);
      call?.finish(`${call.head}${rest}`);
      return;
    }
    const [, thread = '', name = '', rest = ''] = CALL.exec(line) ?? [];
    if (name === '') return;
    const finish = this.#begin(name, rest, number);
    if (!UNFINISHED.test(rest)) finish(rest);
    else this.#unfinished.set(thread, { head: rest.replace(UNFINISHED, ''), line: number, finish });
  }

  verdict(): TraceVerdict {
    return {
      acknowledgements: this.#acknowledgements,
      writes: this.#writes,
      syncs: this.#syncs,
      faults: this.#faults,
    };
  }

  /** A call has begun; returns what is to be done when it is finished. */
  #begin(name: string, rest: string, line: number): (whole: string) => void {
    if (name === 'openat') {
      const entered = /\bO_CREAT\b/.test(rest) ? this.#enter(rest, line) : () => {};
      return (whole) => {
        entered(whole);
        this.#opened(whole);
      };
    }
    if (MAKES.has(name)) return this.#enter(rest, line);
    const [, descriptor = '', path = ''] = DESCRIPTOR.exec(rest) ?? [];
    const isFile = path.endsWith(this.#question.file);
    if (isFile && WRITES.has(name)) return this.#write(descriptor, line);
    if (isFile && SYNCS.has(name)) return this.#sync();
    if (name === 'fsync') return this.#syncEntries(path);
    if (name === 'write' && descriptor === STANDARD_OUTPUT) {
      const written = rest.slice(rest.indexOf('"') + 1);
      if (written.startsWith(this.#question.acknowledgement)) this.#acknowledge(line);
    }
    return () => {};
  }

  #opened(whole: string): void {
    const [, descriptor = '', path = ''] = OPENED.exec(whole) ?? [];
    if (/\bO_D?SYNC\b/.test(whole) && path.endsWith(this.#question.file))
      this.#synchronous.add(descriptor);
    else this.#synchronous.delete(descriptor);
  }

  #write(descriptor: string, line: number): (whole: string) => void {
    const write: Write = { line, isFinished: false, isSynced: false };
    this.#open.push(write);
    this.#writes += 1;
    this.#writesSince += 1;
    const isSynchronous = this.#synchronous.has(descriptor);
    return (whole) => {
      write.isFinished = true;
      // What failed has written nothing that anybody could rely on.
      if (isSynchronous || FAILED.test(whole)) this.#settle([write]);
    };
  }

  #sync(): (whole: string) => void {
    const covered = this.#open.filter(({ isFinished }) => isFinished);
    return (whole) => {
      if (FAILED.test(whole)) return;
      this.#syncs += 1;
      this.#settle(covered);
    };
  }

  #enter(rest: string, line: number): (whole: string) => void {
    const { entries } = this.#question;
    const path = MADE.exec(rest)?.[2];
    if (entries === undefined || path === undefined || !path.startsWith(`${entries}/`))
      return () => {};
    const entry: Entry = { path, line, isMade: false };
    this.#entries.push(entry);
    return (whole) => {
      entry.isMade = true;
      if (FAILED.test(whole)) this.#entries = this.#entries.filter((one) => one !== entry);
    };
  }

  #syncEntries(directory: string): (whole: string) => void {
    const covered = this.#entries.filter(
      ({ path, isMade }) => isMade && dirname(path) === directory,
    );
    return (whole) => {
      if (!FAILED.test(whole))
        this.#entries = this.#entries.filter((entry) => !covered.includes(entry));
    };
  }

  #settle(writes: readonly Write[]): void {
    for (const write of writes) write.isSynced = true;
    this.#open = this.#open.filter(({ isSynced }) => !isSynced);
  }

  #acknowledge(line: number): void {
    this.#acknowledgements += 1;
    const [first] = this.#open;
    if (first !== undefined)
      this.#faults.push(
        `line ${line}: ${this.#open.length} writes are not synced, the first of line ${first.line}`,
      );
    else if (this.#writesSince === 0)
      this.#faults.push(`line ${line}: nothing was written since the acknowledgement before`);
    this.#writesSince = 0;
    for (const { path, line: made } of this.#entries)
      this.#faults.push(`line ${line}: the name of ${path}, made in line ${made}, is not synced`);
    this.#entries = [];
  }
}
