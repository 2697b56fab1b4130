/**
 * Event log of a run: a line of JSON for each thing that happened, numbered, after it was committed.
 *
 * Watchers are told the same records; one that throws is counted, and changes nothing.
 */

import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import type { NoteParams } from '../../machines/agents/notes.ts';
import { messageOf } from '../../runtime/base/errors.ts';
import type { Logger } from '../../runtime/base/limits.ts';

export interface EventRecord {
  readonly seq: number;
  readonly at: number;
  readonly event: NoteParams['event'];
  readonly run_id: string;
  readonly level: 'info' | 'warn';
  readonly agent_id?: string;
  readonly task_id?: string;
  readonly message?: string;
  readonly [field: string]: unknown;
}

export type Watcher = (record: EventRecord) => unknown;

export class EventLog {
  readonly #path: string;
  readonly #logger: Logger;
  readonly #watchers = new Set<Watcher>();
  #seq: number;
  /** Calls of watchers that threw. */
  failures = 0;

  constructor(path: string, logger: Logger) {
    this.#path = path;
    this.#logger = logger;
    this.#seq = linesOf(path);
  }

  watch(watcher: Watcher): void {
    this.#watchers.add(watcher);
  }

  take(note: NoteParams): void {
    const { at, event, run_id, level = 'info', ...rest } = note;
    this.#seq += 1;
    const record = { seq: this.#seq, at, event, run_id, level, ...rest } as EventRecord;
    try {
      appendFileSync(this.#path, `${JSON.stringify(record)}\n`, { mode: 0o600 });
    } catch (thrown) {
      this.#logger.warn({ error: messageOf(thrown) }, 'an event could not be written');
    }
    for (const watcher of this.#watchers) this.#call(watcher, record);
  }

  #call(watcher: Watcher, record: EventRecord): void {
    const failed = (): void => {
      this.failures += 1;
    };
    try {
      Promise.resolve(watcher(record)).catch(failed);
    } catch {
      failed();
    }
  }
}

/** A line that a crash has cut short counts, so that no number is used twice. */
function linesOf(path: string): number {
  if (!existsSync(path)) return 0;
  const text = readFileSync(path, 'utf8');
  if (text === '') return 0;
  if (text.endsWith('\n')) return text.split('\n').length - 1;
  appendFileSync(path, '\n');
  return text.split('\n').length;
}
