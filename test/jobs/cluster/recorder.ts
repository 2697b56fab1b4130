/**
 * Everything that the nodes of a cluster have logged, with the time of the script.
 *
 * A note of a machine is a line whose fields have an `event`. Nothing is ever dropped.
 */

import type { LogEventName } from '../../../machines/jobs/log-events.ts';
import type { Logger } from '../../../runtime/base/limits.ts';

export interface LogLine {
  /** Milliseconds since the script began. */
  readonly atMs: number;
  readonly node: string;
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export class Recorder {
  readonly #now: () => number;
  readonly #lines: Array<LogLine & { readonly at: number }> = [];
  readonly #sinceBegin: (at: number) => number;

  /** `now` is any clock's time, `sinceBegin` turns it into that of the script. */
  constructor(now: () => number, sinceBegin: (at: number) => number) {
    this.#now = now;
    this.#sinceBegin = sinceBegin;
  }

  logger(node: string): Logger {
    const record = (level: LogLine['level']) => (fields: object, message: string) => {
      const line = { node, level, message, fields: { ...fields }, at: this.#now(), atMs: 0 };
      this.#lines.push(line);
    };
    return {
      debug: record('debug'),
      info: record('info'),
      warn: record('warn'),
      error: record('error'),
    };
  }

  /** All lines so far, oldest first. */
  lines(): readonly LogLine[] {
    return this.#lines.map(({ at, ...line }) => ({ ...line, atMs: this.#sinceBegin(at) }));
  }

  /** The log events of that name whose fields are as given. */
  notes(event: LogEventName, fields: Readonly<Record<string, unknown>> = {}): readonly LogLine[] {
    return this.lines().filter(
      (line) =>
        line.fields['event'] === event &&
        Object.entries(fields).every(([name, value]) => line.fields[name] === value),
    );
  }

  /** What went wrong in a node, and not in the jobs: an empty list in every good run. */
  errors(): readonly string[] {
    return this.lines()
      .filter(({ level }) => level === 'error')
      .map(
        ({ atMs, node, message, fields }) => `${atMs} ${node} ${message} ${JSON.stringify(fields)}`,
      );
  }
}

/** Whether a moment is "at t" in the sense of the scenarios: in the second after it. */
export function isAt(atMs: number | undefined, seconds: number): boolean {
  return atMs !== undefined && atMs > seconds * 1_000 && atMs <= (seconds + 1) * 1_000;
}
