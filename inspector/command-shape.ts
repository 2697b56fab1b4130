/**
 * Shape of a command that came from a page: which fields each needs, and of which type. Its meaning is checked by
 * what carries it out.
 */

import { RuntimeError } from '../runtime/base/errors.ts';
import type { Command } from './protocol.ts';

/** @throws {RuntimeError} OPTION_INVALID */
export function parseCommand(value: unknown): Command {
  const { type, ...fields } = (value ?? {}) as { readonly type?: unknown } & Record<
    string,
    unknown
  >;
  if (typeof type !== 'string' || !Object.hasOwn(NEEDED, type))
    throw new RuntimeError(
      'OPTION_INVALID',
      `A command is one of ${Object.keys(NEEDED).join(', ')}.`,
    );
  for (const name of NEEDED[type as Command['type']]) {
    const isNumber = name.endsWith('Ms') || name === 'dueAt';
    const isRight =
      name === 'event'
        ? typeof fields[name] === 'object'
        : typeof fields[name] === (isNumber ? 'number' : 'string');
    if (!isRight)
      throw new RuntimeError(
        'OPTION_INVALID',
        `"${name}" of a command "${type}" is missing or of another type.`,
      );
  }
  checkTexts(fields.texts);
  for (const name of ['byMs', 'forMs', 'limitMs', 'dueAt'])
    if (
      fields[name] !== undefined &&
      !(Number.isSafeInteger(fields[name]) && (fields[name] as number) > 0)
    )
      throw new RuntimeError(
        'OPTION_INVALID',
        `"${name}" is a positive whole number of milliseconds.`,
      );
  return value as Command;
}

/** @throws {RuntimeError} OPTION_INVALID */
function checkTexts(texts: unknown): void {
  const isRight =
    texts === undefined ||
    (Array.isArray(texts) &&
      texts.length <= TEXTS_MAX &&
      texts.every((each) => typeof each === 'string'));
  if (!isRight)
    throw new RuntimeError('OPTION_INVALID', `"texts" is a list of ${TEXTS_MAX} texts at most.`);
}
const TEXTS_MAX = 100;

const NEEDED: Readonly<Record<Command['type'], readonly string[]>> = {
  send: ['address', 'event'],
  ask: ['address', 'event'],
  extend: ['address', 'byMs', 'reason'],
  cancel: ['address', 'reason'],
  answer: ['question', 'answer'],
  changeDeadline: ['address', 'deadline', 'dueAt'],
  fireNow: ['address', 'deadline'],
  retryLetter: ['id', 'node'],
  dropLetter: ['id', 'node'],
  revive: ['address'],
  end: ['address'],
  record: ['forMs'],
  stopRecording: [],
  fault: ['name'],
};
