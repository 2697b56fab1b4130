/**
 * What a node says while it runs: lines of JSON, or short lines for a person at a terminal.
 *
 * Guarantees: writing never holds the node up. A reader that is too slow loses lines, never the
 * node its time, and how many were lost is counted. What comes from data cannot speak to a
 * terminal.
 */

import type { Writable } from 'node:stream';
import { styleText } from 'node:util';
import { type DestinationStream, destination, type Logger as Pino, pino } from 'pino';
import { printable } from '../output.ts';
import type { LogLevel, NodeConfiguration } from './resolve.ts';

/** Of lines that the reader has not taken. */
const BUFFER_BYTES_MAX = 4 * 1024 * 1024;
const STDOUT = 1;
/** How long a node that ends waits for whoever reads what it says. */
const WRITTEN_MS = 1_000;

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

export type LogTarget = Writable & { readonly isTTY?: boolean };

export function openLog({ node, log }: NodeConfiguration, terminal: LogTarget): NodeLog {
  const isText = log.format === 'text' || (log.format === 'auto' && terminal.isTTY === true);
  const lines = isText
    ? undefined
    : destination({ fd: STDOUT, sync: false, maxLength: BUFFER_BYTES_MAX });
  let lost = 0;
  lines?.on('drop', () => {
    lost += 1;
  });
  // A reader that goes away is no reason to end: a node is there for its jobs. But nothing is flushed
  // any more then: that would be tried again for ever.
  let isUnread = false;
  lines?.on('error', () => {
    isUnread = true;
  });
  const options = {
    level: log.level,
    base: null,
    // Not a binding: many records name a node themselves, and no key stands there twice.
    mixin: () => ({ node }),
    formatters: { level: (label: string) => ({ level: label }) },
  };
  const logger = pino(options, lines ?? shortLines(terminal));
  return {
    logger,
    get lost() {
      return lost;
    },
    setLevel: (level) => {
      logger.level = level;
    },
    written: async () => {
      if (lines === undefined) return;
      await new Promise<void>((resolve) => {
        const late = setTimeout(() => {
          isUnread = true;
          resolve();
        }, WRITTEN_MS);
        const over = (): void => {
          clearTimeout(late);
          resolve();
        };
        lines.once('drain', over).once('error', over);
        // Where nothing is waiting there would be nothing to hear of.
        lines.write('');
      });
    },
    flush: () => {
      if (isUnread) return;
      try {
        lines?.flushSync();
      } catch {
        // It was never opened, or nobody reads any more.
      }
    },
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

function shortLines(terminal: LogTarget): DestinationStream {
  const paint = (colour: (typeof COLOURS)[keyof typeof COLOURS], text: string): string =>
    styleText(colour, text, { stream: terminal });
  return {
    write: (json) => {
      const { level, time, msg = '', ...rest } = JSON.parse(json) as Line;
      const fields = withoutRepetition(msg, rest);
      const clock = new Date(time).toISOString().slice(11, 23);
      const colour = COLOURS[level as keyof typeof COLOURS] ?? 'gray';
      const said = [paint(colour, level.padEnd(5)), printable(msg), shortFields(fields)];
      terminal.write(`${clock} ${said.filter((part) => part !== '').join(' ')}\n`);
    },
  };
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
    .map(([name, value]) => `${name}=${printable(shortValue(value))}`)
    .join(' ');
}

function shortValue(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return /\s/.test(text) ? JSON.stringify(text) : text;
}
