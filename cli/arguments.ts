/** Parsers of options and arguments. A value that makes no sense is wrong usage, exit 64. */

import { InvalidArgumentError } from 'commander';
import { ID_PATTERN } from '../machines/jobs/addresses.ts';
import { wholeAddress } from '../runtime/base/address.ts';
import { DURATION, durationMs } from '../runtime/base/duration.ts';

/** A whole number of 0 or more, in digits. */
export function parseCount(text: string): number {
  const count = Number(text);
  if (/^\d{1,15}$/.test(text)) return count;
  throw new InvalidArgumentError('It must be a whole number of 0 or more.');
}

/** Collects the values of options that may be given several times. */
export function collect(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}

/** Milliseconds, of a duration such as 30s, 5m or 1h30m. */
export function parseDurationMs(text: string): number {
  const ms = durationMs(text);
  if (ms !== undefined) return ms;
  throw new InvalidArgumentError(`It must be ${DURATION}.`);
}

/** The same, but nothing can take no time. */
export function parsePositiveDurationMs(text: string): number {
  const ms = parseDurationMs(text);
  if (ms > 0) return ms;
  throw new InvalidArgumentError('It must be longer than 0.');
}

/** The name of a job, a datacenter or a workflow. */
export function parseId(text: string): string {
  if (ID_PATTERN.test(text)) return text;
  throw new InvalidArgumentError('It must be 1 to 128 letters, digits or "._:-".');
}

/** The address of an actor, with its place or without. */
export function parseAddress(text: string): string {
  if (isAddress(text)) return text;
  throw new InvalidArgumentError('It must be kind/key or kind/key@place, such as order/42.');
}

/** The id of a job, or the address of an actor: one has a slash. */
export function parseJobOrActor(text: string): string {
  if (text.includes('/') ? isAddress(text) : ID_PATTERN.test(text)) return text;
  throw new InvalidArgumentError(
    'It must be the id of a job (1 to 128 letters, digits or "._:-"), or kind/key of an actor.',
  );
}

function isAddress(text: string): boolean {
  try {
    return wholeAddress(text, 'anywhere') !== '';
  } catch {
    return false;
  }
}

/** Several of them: `A,B`, or the option given again. */
export function collectIds(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, ...text.split(',').map((id) => parseId(id.trim()))];
}

/** Parses options that say how many of something are wanted. */
export function parseLimit(text: string): number {
  const count = parseCount(text);
  if (count >= 1 && count <= 500) return count;
  throw new InvalidArgumentError('It must be a whole number from 1 to 500.');
}
