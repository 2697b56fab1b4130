/**
 * Envelopes: the one shape of a message between nodes, and the check of those that come from outside.
 *
 * An envelope is checked once, where bytes enter the process. Code that holds an
 * `Envelope` trusts it and does not check it again. `from` and `counter` are the
 * message's identity, the same on every resend; a hint has counter 0 and no identity.
 * Text from outside stays within bounds that everything behind can live with: names that
 * are one, events that are neither deep nor wide nor able to change a prototype.
 */

import { isReserved } from '../actor.ts';
import { isWholeAddress, wholeAddress } from '../base/address.ts';
import { excerpt, RuntimeError } from '../base/errors.ts';
import { REPLY_EVENT } from '../machine.ts';

/** Asks for an actor's persisted snapshot; answered by the node, no machine sees it. */
export const FETCH_EVENT = 'escapement.fetch';
/** `what` of a question that the inspector of another node answers. */
export const INSPECT_QUESTION = 'inspect';

export interface Envelope {
  readonly to: string;
  readonly from: string;
  readonly counter: number;
  /** The sender's message to this receiver that has to be taken before this one; 0 for none. */
  readonly after: number;
  /** Time that it had waited when this copy of it was sent; left out when that is not worth telling. */
  readonly ageMs?: number;
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
const DEPTH_MAX = 32;
const KEYS_MAX = 1_000;
/** Senders are addresses, sessions (`session:…@node`) and requests (`request:…`). */
const SENDER = /^[A-Za-z0-9._:~@/-]{1,1300}$/;
const FORBIDDEN_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/** @throws {RuntimeError} ENVELOPE_MALFORMED naming the first field that is wrong. */
export function parseEnvelope(value: unknown): Envelope {
  const fields = expectObject(value, 'envelope');
  const event = expectObject(fields.event, 'event');
  const counter = expectCounter(fields.counter, 'counter');
  const after = expectCounter(fields.after, 'after');
  if (after >= counter && after > 0) throw malformed('after', 'below "counter"', after);
  if (fields.ageMs !== undefined) expectCounter(fields.ageMs, 'ageMs');
  checkEvent(event);
  expectAddress(fields.to, 'to');
  expectSender(fields.from);
  // Made of text for us alone: there is nothing to copy.
  return value as Envelope;
}

/** Checks what may be in an event of any sender. @throws {RuntimeError} ENVELOPE_MALFORMED, EVENT_RESERVED */
export function checkEvent(event: Readonly<Record<string, unknown>>): void {
  const type = expectName(event.type, 'event.type');
  if (isReserved(type) && type !== REPLY_EVENT && type !== FETCH_EVENT) {
    throw new RuntimeError(
      'EVENT_RESERVED',
      `Events called ${excerpt(type)} come from inside only.`,
    );
  }
  checkShape(event, 'event', 1);
  checkReplyAddress(event.replyTo);
}

/** @throws {RuntimeError} ENVELOPE_MALFORMED */
export function parseReceipt(value: unknown): Receipt {
  const { from, to, counter } = expectObject(value, 'receipt');
  expectSender(from);
  expectAddress(to, 'to');
  expectCounter(counter, 'counter');
  return value as Receipt;
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

export function expectCounter(value: unknown, path: string): number {
  if (!Number.isSafeInteger(value) || (value as number) < 0)
    throw malformed(path, 'an integer of 0 or more', value);
  return value as number;
}

/** Address found good last: messages come in runs between the same two. */
let lastAddress = '';
let lastSender = '';

function expectAddress(value: unknown, path: string): string {
  if (value === lastAddress && value !== '') return value;
  if (typeof value !== 'string' || !isWholeAddress(value))
    throw malformed(path, 'an address, kind/key@place', value);
  lastAddress = value;
  return value;
}

function expectSender(value: unknown): string {
  if (value === lastSender && value !== '') return value;
  if (typeof value !== 'string' || !SENDER.test(value)) throw malformed('from', 'a sender', value);
  lastSender = value;
  return value;
}

/**
 * An answer goes where the event says; something that is no address would fail the turn of the actor that
 * answers.
 */
function checkReplyAddress(replyTo: unknown): void {
  if (replyTo === undefined) return;
  try {
    wholeAddress(replyTo as string, 'here');
  } catch (cause) {
    throw malformed('event.replyTo', 'an address', replyTo, cause);
  }
}

function checkShape(value: unknown, path: string, depth: number): void {
  if (typeof value !== 'object' || value === null) return;
  if (depth > DEPTH_MAX) throw malformed(path, `at most ${DEPTH_MAX} levels deep`, 'more');
  if (Array.isArray(value)) {
    for (const item of value) checkShape(item, path, depth + 1);
    return;
  }
  let keys = 0;
  for (const key in value) {
    keys += 1;
    if (keys > KEYS_MAX) throw malformed(path, `of at most ${KEYS_MAX} keys in one object`, 'more');
    if (FORBIDDEN_KEYS.has(key)) throw malformed(path, 'without such keys', key);
    checkShape((value as Record<string, unknown>)[key], path, depth + 1);
  }
}

function malformed(path: string, expected: string, value: unknown, cause?: unknown): RuntimeError {
  return new RuntimeError(
    'ENVELOPE_MALFORMED',
    `"${path}" must be ${expected}, got ${excerpt(value)}.`,
    { cause },
  );
}
