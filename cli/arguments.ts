/** What options and arguments may look like. A value that makes no sense is wrong usage, exit 64. */

import { InvalidArgumentError } from 'commander';

/** A whole number of 0 or more, in digits. */
export function parseCount(text: string): number {
  const count = Number(text);
  if (/^\d{1,15}$/.test(text)) return count;
  throw new InvalidArgumentError('It must be a whole number of 0 or more.');
}

/** For options that may be given several times. */
export function collect(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}
