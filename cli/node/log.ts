/**
 * Log of a running node: lines of JSON, or short lines for a person at a terminal.
 *
 * Guarantees: writing never holds the node up. A reader that is too slow loses lines, never the
 * node its time, and how many were lost is counted. What comes from data cannot speak to a
 * terminal.
 */

import type { Writable } from 'node:stream';
import { styleText } from 'node:util';
import { type Logger as Pino, pino } from 'pino';
import { printable } from '../../runtime/base/printable.ts';
import { LogLines } from './log-lines.ts';
import type { LogLevel, NodeConfiguration } from './resolve.ts';

export interface NodeLog {
  readonly logger: Pino;
  /** Lines that were lost because nobody read them. */
  readonly lost: number;
  setLevel(level: LogLevel): void;
  /** Resolves when what was said is written; after a moment in any case, for a reader may be slow or gone. */
  written(): Promise<void>;
  /** Writes what is waiting, as far as somebody reads it. */
  flush(): void;
}

/** Where the log goes; a node writes to the descriptor itself, for a stream of a pipe or terminal waits for its reader. */
export type LogTarget = Writable & { readonly fd: number; readonly isTTY?: boolean };

export function openLog({ node, log }: NodeConfiguration, terminal: LogTarget): NodeLog {
  const isText = log.format === 'text' || (log.format === 'auto' && terminal.isTTY === true);
  const lines = new LogLines({
    fd: terminal.fd,
    ...(isText && { lineOf: (json) => shortLine(json, terminal) }),
  });
  const options = {
    level: log.level,
    base: null,
    // Not a binding: many records name a node themselves, and no key stands there twice.
    mixin: () => ({ node }),
    formatters: { level: (label: string) => ({ level: label }) },
  };
  const logger = pino(options, lines);
  return {
    logger,
    get lost() {
      return lines.lost;
    },
    setLevel: (level) => {
      logger.level = level;
    },
    written: () => lines.written(),
    flush: () => lines.flush(),
  };
}

interface Line {
  readonly level: string;
  readonly time: number;
  readonly msg?: string;
  readonly [field: string]: unknown;
}

const COLOURS = {
  debug: 'gray',
  info: 'green',
  warn: 'yellow',
  error: 'red',
  fatal: 'red',
} as const;

function shortLine(json: string, terminal: LogTarget): string {
  const { level, time, msg = '', ...rest } = JSON.parse(json) as Line;
  const paint = (colour: (typeof COLOURS)[keyof typeof COLOURS], text: string): string =>
    styleText(colour, text, { stream: terminal });
  const fields = withoutRepetition(msg, rest);
  const clock = new Date(time).toISOString().slice(11, 23);
  const colour = COLOURS[level as keyof typeof COLOURS] ?? 'gray';
  const said = [paint(colour, level.padEnd(5)), printable(msg), shortFields(fields)];
  return `${clock} ${said.filter((part) => part !== '').join(' ')}`;
}

/** The jobs system calls a line by its event, and says the moment of the event beside that of the line. */
function withoutRepetition(
  msg: string,
  fields: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const { event, at, ...others } = fields;
  return event === msg ? others : fields;
}

function shortFields(fields: Readonly<Record<string, unknown>>): string {
  return Object.entries(fields)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => printable(`${name}=${shortValue(value)}`))
    .join(' ');
}

function shortValue(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return /\s/.test(text) ? JSON.stringify(text) : text;
}
