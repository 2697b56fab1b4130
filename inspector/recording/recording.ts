/**
 * Recording of a living node: begun by an option or by a command, for everything or for some actors and kinds, for a
 * while or until it is stopped; in memory, and in files where a directory is named, from which it goes on after a restart.
 *
 * A wish that comes while something is recorded adds to it. The inspection stream is read only while there is a wish.
 */

import { wholeAddress } from '../../runtime/base/address.ts';
import { messageOf, RuntimeError } from '../../runtime/base/errors.ts';
import type { LiveContext } from '../live/live-context.ts';
import type { ResolvedOptions } from '../options.ts';
import { ownVersion } from '../version.ts';
import { recordingFolder } from './kept.ts';
import { Recorder, type RecorderParts } from './recorder.ts';
import { Segments } from './segments.ts';
import { linesOfActor } from './stored.ts';
import { areCovering, type Wish } from './wish.ts';

const RECORD_MS_MAX = 24 * 3_600_000;
/** Lines wait so long for the others of their write: what a killed node loses. */
const WRITE_MS = 250;
/** Rows of its history with which the recording of a named actor begins. */
const HISTORY_ROWS = 100;

type Options = Pick<ResolvedOptions, 'record' | 'redact'>;

export class Recording {
  readonly #context: LiveContext;
  readonly #options: Options;
  readonly #parts: Omit<RecorderParts, 'keep'>;
  #recorder: Recorder | undefined;
  #segments: Segments | undefined;
  #unread: (() => void) | undefined;
  #cancelWrite: (() => void) | undefined;
  readonly #cancels = new Set<() => void>();

  /** @throws {RuntimeError} OPTION_INVALID of a directory that cannot be written */
  constructor(context: LiveContext, options: Options) {
    this.#context = context;
    this.#options = options;
    this.#parts = {
      now: () => context.now(),
      definition: (kind) => context.definition(kind),
      node: context.node,
      place: context.runtime.place,
      version: ownVersion(),
    };
    const { directory } = options.record;
    if (directory !== undefined) this.#restore(directory);
  }

  /** What is recorded; undefined where nothing was ever. */
  get recorder(): Recorder | undefined {
    return this.#recorder;
  }

  /** Without `forMs` until it is stopped. Returns a sentence for people. */
  begin({ addresses, kinds }: Wish, forMs?: number): string {
    const wish = { addresses, kinds };
    const lastsMs = forMs === undefined ? undefined : Math.min(RECORD_MS_MAX, forMs);
    const recorder = this.#running();
    if (lastsMs !== undefined && areCovering(recorder.wishes, wish) && this.#cancels.size === 0)
      return 'It is recorded already, until the recording is stopped.';
    recorder.wishes = [...recorder.wishes, wish];
    for (const address of wish.addresses ?? []) this.#addPresent(recorder, address);
    if (lastsMs === undefined) return 'Recording until it is stopped.';
    const cancel = this.#context.watch.later(lastsMs, () => {
      this.#cancels.delete(cancel);
      recorder.wishes = recorder.wishes.filter((one) => one !== wish);
      if (recorder.wishes.length === 0) this.#end();
    });
    this.#cancels.add(cancel);
    return `Recording for ${Math.round(lastsMs / 1_000)} s.`;
  }

  stop(): string {
    const { turns = 0 } = this.#recorder?.size ?? {};
    this.#end();
    const until = this.#options.record.directory === undefined ? ' until another one begins' : '';
    return `The recording has ended with ${turns} turns; it is kept${until}.`;
  }

  /** The node stops. Idempotent. */
  close(): void {
    const { node } = this.#parts;
    if (this.#segments !== undefined && this.#unread !== undefined)
      this.#recorder?.add({
        type: 'node',
        at: this.#now(),
        node,
        change: 'stopped',
        life: this.#life(),
      });
    this.#end();
    this.#segments = undefined;
  }

  #now(): number {
    return this.#context.now();
  }

  #running(): Recorder {
    if (this.#unread !== undefined && this.#recorder !== undefined) return this.#recorder;
    // What is in files goes on; what is in memory alone begins again.
    const recorder =
      this.#segments === undefined ? this.#newRecorder() : (this.#recorder ?? this.#newRecorder());
    recorder.wishes = [];
    this.#recorder = recorder;
    this.#unread = this.#context.runtime.inspect(recorder.read, recorder.isWanted);
    const { node } = this.#parts;
    const at = this.#now();
    for (const peer of this.#context.watch.peers())
      recorder.add({ type: 'link', at, node, peer, change: 'up' });
    return recorder;
  }

  #newRecorder(): Recorder {
    const { turnsMax, bytesMax } = this.#options.record;
    return new Recorder(
      { ...this.#parts, keep: (line, text) => this.#keep(line, text) },
      { turnsMax, bytesMax, redact: this.#options.redact },
    );
  }

  #end(): void {
    this.#unread?.();
    this.#unread = undefined;
    for (const cancel of this.#cancels) cancel();
    this.#cancels.clear();
    this.#attempt(() => this.#segments?.close());
    this.#cancelWrite?.();
    this.#cancelWrite = undefined;
  }

  #restore(directory: string): void {
    const { logger } = this.#context.watch;
    const { node } = this.#parts;
    const folder = recordingFolder(directory, node);
    try {
      this.#segments = new Segments(folder, this.#options.record, this.#parts);
      const { lines, damaged } = this.#segments.restore();
      if (damaged.length > 0)
        logger.warn(
          { event: 'inspector.recordingDamaged', folder, files: damaged },
          'parts of an earlier recording cannot be read and are left out',
        );
      const recorder = this.#newRecorder();
      this.#recorder = recorder;
      recorder.restore(lines);
      const before = recorder.last('node');
      const life = before?.life ?? 0;
      // A node that ended in order has said so.
      if (before?.change === 'started' && recorder.lastAt !== undefined)
        recorder.add({ type: 'node', at: recorder.lastAt, node, change: 'crashed', life });
      recorder.add({ type: 'node', at: this.#now(), node, change: 'started', life: life + 1 });
      // Of a node that dies soon again its lives are known all the same.
      this.#segments.flush();
    } catch (thrown) {
      throw new RuntimeError(
        'OPTION_INVALID',
        `"directory" of a recording cannot be used: ${messageOf(thrown)}.`,
        { cause: thrown },
      );
    }
  }

  #life(): number {
    return this.#recorder?.last('node')?.life ?? 1;
  }

  #keep: NonNullable<RecorderParts['keep']> = (line, text) => {
    let isFull = false;
    this.#attempt(() => {
      isFull = this.#segments?.append(line, text) ?? false;
    });
    if (this.#segments?.isWaiting === true)
      this.#cancelWrite ??= this.#context.watch.later(WRITE_MS, () => {
        this.#cancelWrite = undefined;
        this.#attempt(() => this.#segments?.flush());
      });
    return isFull;
  };

  /** A disk that is full ends what is in files; what is in memory goes on. */
  #attempt(write: () => void): void {
    try {
      write();
    } catch (thrown) {
      this.#segments = undefined;
      this.#context.watch.logger.error(
        { event: 'inspector.recordingFailed', error: messageOf(thrown) },
        'a recording can no longer be written; it goes on in memory alone',
      );
    }
  }

  /** An actor that does nothing meanwhile is there with what it did before and what it waits for. */
  #addPresent(recorder: Recorder, given: string): void {
    const address = wholeAddress(given, this.#parts.place);
    if (recorder.has(address) || !this.#context.isHere(address)) return;
    const report = this.#context.watch.report(address);
    if (report === undefined) return;
    const { kind, status, state, turnAt, context, deadlines } = report;
    const timers = deadlines.flatMap(({ id, dueAt, child }) =>
      child === undefined ? [{ id, dueAt }] : [],
    );
    const rows = this.#context.runtime.history(address, { limit: HISTORY_ROWS });
    const facts = { address, node: this.#parts.node, kind, status, state, turnAt, context, timers };
    for (const line of linesOfActor(facts, rows, this.#options.redact)) recorder.add(line);
  }
}
