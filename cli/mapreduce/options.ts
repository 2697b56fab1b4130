/** Options and readings that the commands of map-reduce runs share. */

import { existsSync } from 'node:fs';
import { type Command, InvalidArgumentError } from 'commander';
import type { HaltRules } from '../../machines/mapreduce/run/context.ts';
import type { TerminationStep } from '../../machines/mapreduce/words.ts';
import { openStoredData, type StoredData } from '../../programs/mapreduce/stored-data.ts';
import { CommandFailure, EXIT } from '../exit.ts';

export interface DataOptions {
  readonly data: string;
  readonly json?: boolean;
}

/** Directory of the data where nobody says another one; it may not be there yet. */
const USUAL_DATA = '.escapement';
const LIMIT_MAX_SECONDS = 60 * 86_400;
const WAIT_MAX_MS = LIMIT_MAX_SECONDS * 1_000;

export function withDataOptions(command: Command): Command {
  return command
    .option('--data <dir>', 'directory of the runs', USUAL_DATA)
    .option('--json', 'print JSON');
}

/** Milliseconds, of a number of seconds with at most three decimals. */
export function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (/^\d+(\.\d{1,3})?$/.test(text) && seconds > 0 && seconds <= LIMIT_MAX_SECONDS)
    return Math.round(seconds * 1_000);
  throw new InvalidArgumentError(
    'It must be a number of seconds greater than 0, such as 90 or 0.5.',
  );
}

export function parsePositive(text: string): number {
  const count = Number(text);
  if (/^\d{1,9}$/.test(text) && count > 0) return count;
  throw new InvalidArgumentError('It must be a whole number of 1 or more.');
}

/** `claude=/path/stub`, or `claude=["/path/stub", "-p"]`. */
export function parseCommand(text: string): readonly string[] {
  const [, given = ''] = /^claude=(.+)$/s.exec(text) ?? [];
  if (given.startsWith('[')) {
    try {
      const argv = JSON.parse(given) as unknown;
      const isText = (each: unknown): each is string => typeof each === 'string';
      if (Array.isArray(argv) && argv.length > 0 && argv.every(isText)) return argv;
    } catch {
      // What it should be is said below.
    }
  } else if (given !== '') return [given];
  throw new InvalidArgumentError('It must be claude=<program>, or claude=["program", "argument"].');
}

/** Opens the data to be looked at, for as long as `read` takes. @throws {CommandFailure} */
export async function looking<T>(data: string, read: (stored: StoredData) => T): Promise<T> {
  if (data !== USUAL_DATA && !existsSync(data))
    throw new CommandFailure(EXIT.badData, `${data}: there is no such directory.`);
  const opened = await openStoredData(data);
  try {
    return read(opened);
  } finally {
    await opened.close();
  }
}

/** `now,fail=3`, `soon,fail=10%`. */
export function parseHalt(text: string): HaltRules {
  const [, when, number = '', percent] = /^(now|soon),fail=(\d{1,9})(%?)$/.exec(text) ?? [];
  const failures = Number(number);
  const isPercent = percent === '%';
  if ((when === 'now' || when === 'soon') && failures > 0 && (!isPercent || failures <= 100))
    return { when, failures, isPercent };
  throw new InvalidArgumentError(
    'It must be now or soon, with a number or a share: soon,fail=10%.',
  );
}

const SIGNALS = ['TERM', 'INT', 'HUP', 'QUIT', 'USR1', 'USR2'];

/** `TERM,1000,INT,500,KILL`: signals, with the ms between them. SIGKILL comes last in any case. */
export function parseTermination(text: string): readonly TerminationStep[] {
  const parts = text.replace(/^SIG/, '').split(',');
  if (parts.at(-1)?.replace(/^SIG/, '') === 'KILL') parts.pop();
  const steps: TerminationStep[] = [];
  for (let index = 0; index < parts.length; index += 2) {
    const name = (parts[index] ?? '').replace(/^SIG/, '');
    const waitMs = Number(parts[index + 1] ?? Number.NaN);
    if (
      !SIGNALS.includes(name) ||
      !Number.isSafeInteger(waitMs) ||
      waitMs < 0 ||
      waitMs > WAIT_MAX_MS
    )
      throw new InvalidArgumentError(
        `It must be signals (${SIGNALS.join(', ')}) with the ms after each, such as TERM,1000,KILL.`,
      );
    steps.push({ signal: `SIG${name}`, waitMs });
  }
  return steps;
}
