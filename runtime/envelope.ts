/**
 * The one shape of a message between nodes, and the check of what comes from outside.
 *
 * An envelope is checked once, where bytes enter the process. Code that holds an
 * `Envelope` trusts it and does not check it again. `from` and `counter` are the
 * message's identity, the same on every resend; a hint has counter 0 and no identity.
 */

import { excerpt, RuntimeError } from './errors.ts';
import { isReserved } from './kind.ts';
import { REPLY_EVENT } from './machine.ts';

/** Asks for an actor's persisted snapshot; answered by the node, no machine sees it. */
export const FETCH_EVENT = 'escapement.fetch';

export interface Envelope {
  readonly to: string;
  readonly from: string;
  readonly counter: number;
  /** The sender's lowest unacknowledged counter towards this receiver: all below are settled. */
  readonly settledBelow: number;
  readonly event: { readonly type: string };
}

/** The answer to an envelope: taken, or refused with the reason. */
export interface Receipt {
  /** The sender the envelope came from, and the receiver it was for. */
  readonly from: string;
  readonly to: string;
  readonly counter: number;
  readonly error?: unknown;
}

const NAME_MAX = 1_024;

/** @throws {RuntimeError} ENVELOPE_MALFORMED naming the first field that is wrong. */
export function parseEnvelope(value: unknown): Envelope {
  const fields = expectObject(value, 'envelope');
  const event = expectObject(fields.event, 'event');
  const type = expectName(event.type, 'event.type');
  if (isReserved(type) && type !== REPLY_EVENT && type !== FETCH_EVENT) {
    throw new RuntimeError(
      'EVENT_RESERVED',
      `Events called ${excerpt(type)} come from inside only.`,
    );
  }
  const counter = expectCounter(fields.counter, 'counter');
  return {
    to: expectName(fields.to, 'to'),
    from: expectName(fields.from, 'from'),
    counter,
    settledBelow: expectCounter(fields.settledBelow, 'settledBelow'),
    event: { ...event, type },
  };
}

/** @throws {RuntimeError} ENVELOPE_MALFORMED */
export function parseReceipt(value: unknown): Receipt {
  const { from, to, counter, error } = expectObject(value, 'receipt');
  const receipt = {
    from: expectName(from, 'from'),
    to: expectName(to, 'to'),
    counter: expectCounter(counter, 'counter'),
  };
  return error === undefined ? receipt : { ...receipt, error };
}

export function expectObject(value: unknown, path: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw malformed(path, 'an object', value);
  return value as Record<string, unknown>;
}

export function expectName(value: unknown, path: string): string {
  if (typeof value !== 'string' || value === '' || value.length > NAME_MAX) {
    throw malformed(path, `a text of 1 to ${NAME_MAX} characters`, value);
  }
  return value;
}

function expectCounter(value: unknown, path: string): number {
  if (!Number.isSafeInteger(value) || (value as number) < 0)
    throw malformed(path, 'an integer of 0 or more', value);
  return value as number;
}

function malformed(path: string, expected: string, value: unknown): RuntimeError {
  return new RuntimeError(
    'ENVELOPE_MALFORMED',
    `"${path}" must be ${expected}, got ${excerpt(value)}.`,
  );
}
