/**
 * Protocol: what a line of an agent means, checked field by field. A line that is none of these changes nothing.
 */

import type { AgentEvent } from '../../machines/agents/agent/context.ts';
import { excerpt } from '../../runtime/base/errors.ts';
import type { Sent } from '../../runtime/machine.ts';

export type LineEvent = Extract<
  Sent<AgentEvent>,
  {
    readonly type:
      | 'checkpoint.reported'
      | 'delegation.requested'
      | 'question.asked'
      | 'usage.reported'
      | 'quota.exhausted'
      | 'progress.made'
      | 'result.reported'
      | 'failure.reported';
  }
>;

export type Read =
  | { readonly kind: 'blank' }
  | { readonly kind: 'stray' }
  | { readonly kind: 'malformed'; readonly why: string }
  | { readonly kind: 'event'; readonly event: LineEvent };

/** A field that is not what it must be. */
class FieldError extends Error {}

const OPTIONS_MIN = 2;
const OPTIONS_MAX = 10;
const ID_LENGTH_MAX = 128;
const ALLOWED = ['accept', 'edit', 'respond', 'ignore'] as const;

/** `isWhole`: it is UTF-8. `attemptId` of the attempt that printed it. */
export function readLine(text: string, isWhole: boolean, attemptId: string): Read {
  const trimmed = text.trimStart();
  if (trimmed === '') return { kind: 'blank' };
  if (!trimmed.startsWith('{')) return { kind: 'stray' };
  if (!isWhole) return { kind: 'malformed', why: 'it is no UTF-8' };
  let value: unknown;
  try {
    value = JSON.parse(trimmed);
  } catch {
    return { kind: 'malformed', why: 'it is no JSON' };
  }
  try {
    return { kind: 'event', event: readEvent(new Fields(value as object), attemptId) };
  } catch (thrown) {
    if (thrown instanceof FieldError) return { kind: 'malformed', why: thrown.message };
    throw thrown;
  }
}

function readEvent(line: Fields, attemptId: string): LineEvent {
  if (!line.isMissing('attemptId') && line.text('attemptId') !== attemptId)
    throw new FieldError(`attemptId must be "${attemptId}"`);
  const type = line.text('type');
  const read = Object.hasOwn(READERS, type) ? READERS[type] : undefined;
  if (read === undefined) throw new FieldError(`there is no type ${excerpt(type)}`);
  return read(line);
}

const READERS: Readonly<Record<string, (line: Fields) => LineEvent>> = {
  checkpoint: (line) => ({
    type: 'checkpoint.reported',
    requestId: line.isMissing('requestId') ? null : line.id('requestId'),
    checkpoint: {
      status: line.text('status'),
      completed: line.texts('completed') ?? [],
      remaining: line.texts('remaining') ?? [],
      progressPercent: line.percentOrNull('progressPercent'),
      data: line.any('data'),
    },
  }),
  delegate: (line) => ({
    type: 'delegation.requested',
    requestId: line.id('requestId'),
    expert: line.text('expert'),
    prompt: line.text('prompt'),
    data: line.any('data'),
  }),
  ask: (line) => ({
    type: 'question.asked',
    requestId: line.id('requestId'),
    question: line.text('question'),
    ...readChoice(line),
    context: line.any('context'),
  }),
  usage: (line) => {
    const kind = line.word('kind', ['agent', 'context', 'session'] as const);
    const remainingPercent = line.percentOrNull('remainingPercent');
    const amounts = {
      ...line.amounts('amounts'),
      ...line.amount('tokens'),
      ...line.amount('cost'),
    };
    if (remainingPercent === null && (kind !== 'agent' || Object.keys(amounts).length === 0))
      throw new FieldError('remainingPercent must be a number from 0 to 100');
    return { type: 'usage.reported', kind, remainingPercent, amounts };
  },
  quota: (line) => ({ type: 'quota.exhausted', resetsInMs: line.whole('resetsInMs') }),
  progress: (line) => ({
    type: 'progress.made',
    message: line.text('message'),
    percent: line.percentOrNull('percent'),
  }),
  done: (line) => ({ type: 'result.reported', result: line.any('result') }),
  failed: (line) => ({
    type: 'failure.reported',
    error: line.text('error'),
    retryable: line.isMissing('retryable') ? true : line.flag('retryable'),
  }),
};

/** What may be answered: one of some options, or in one of the ways of an inbox. */
function readChoice(line: Fields) {
  const [options, allow] = [readOptions(line), readAllowed(line)];
  if (options === null || allow === null) return { options, allow };
  throw new FieldError('options and allow exclude each other');
}

function readOptions(line: Fields): readonly string[] | null {
  const options = line.texts('options');
  if (options === null) return null;
  if (options.length >= OPTIONS_MIN && options.length <= OPTIONS_MAX) return options;
  throw new FieldError(`options must have ${OPTIONS_MIN} to ${OPTIONS_MAX} texts`);
}

function readAllowed(line: Fields): readonly string[] | null {
  const allow = line.texts('allow');
  if (allow === null) return null;
  if (allow.length > 0 && allow.every((each) => ALLOWED.some((word) => word === each)))
    return allow;
  throw new FieldError(`allow must have some of ${ALLOWED.join(', ')}`);
}

class Fields {
  readonly #value: Readonly<Record<string, unknown>>;

  constructor(value: object) {
    this.#value = value as Readonly<Record<string, unknown>>;
  }

  isMissing(name: string): boolean {
    return !Object.hasOwn(this.#value, name) || this.#value[name] === null;
  }

  any(name: string): unknown {
    return this.isMissing(name) ? null : this.#value[name];
  }

  text(name: string): string {
    const value = this.any(name);
    if (typeof value === 'string') return value;
    throw new FieldError(`${name} must be a text`);
  }

  id(name: string): string {
    const value = this.text(name);
    if (value.length > 0 && value.length <= ID_LENGTH_MAX) return value;
    throw new FieldError(`${name} must have 1 to ${ID_LENGTH_MAX} characters`);
  }

  word<TWord extends string>(name: string, words: readonly TWord[]): TWord {
    const word = words.find((each) => each === this.any(name));
    if (word !== undefined) return word;
    throw new FieldError(`${name} must be one of ${words.join(', ')}`);
  }

  flag(name: string): boolean {
    const value = this.any(name);
    if (typeof value === 'boolean') return value;
    throw new FieldError(`${name} must be true or false`);
  }

  whole(name: string): number {
    const value = this.any(name);
    if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number;
    throw new FieldError(`${name} must be a whole number of 0 or more`);
  }

  percentOrNull(name: string): number | null {
    const value = this.any(name);
    if (value === null) return null;
    if (typeof value === 'number' && value >= 0 && value <= 100) return value;
    throw new FieldError(`${name} must be a number from 0 to 100`);
  }

  texts(name: string): readonly string[] | null {
    const value = this.any(name);
    if (value === null) return null;
    if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value;
    throw new FieldError(`${name} must be a list of texts`);
  }

  amount(name: string): Readonly<Record<string, number>> {
    const value = this.any(name);
    if (value === null) return {};
    if (typeof value === 'number' && value >= 0) return { [name]: value };
    throw new FieldError(`${name} must be a number of 0 or more`);
  }

  amounts(name: string): Readonly<Record<string, number>> {
    const value = this.any(name);
    if (value === null) return {};
    if (typeof value !== 'object' || Array.isArray(value))
      throw new FieldError(`${name} must have names and numbers`);
    const inner = new Fields(value as object);
    return Object.assign({}, ...Object.keys(value as object).map((each) => inner.amount(each)));
  }
}
