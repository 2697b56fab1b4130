/**
 * Frames: what travels between two nodes, as text.
 *
 * Version 1: `{ v: 1, hello?, envelopes?, receipts? }`. A hello says who is there and
 * which places it hosts now; it is sent whenever that changes. Everything that is due
 * to one node in one tick goes into one frame, or into several when it grows large.
 */

import { expectName, expectObject, type Receipt } from './envelope.ts';
import { excerpt, RuntimeError } from './errors.ts';
import type { OutboxRow } from './outbox.ts';

export const WIRE_VERSION = 1;

export interface Hello {
  readonly node: string;
  readonly places: readonly string[];
}

export interface Frame {
  readonly hello: Hello | undefined;
  readonly envelopes: readonly unknown[];
  readonly receipts: readonly unknown[];
}

/** Opens a frame. @throws {RuntimeError} ENVELOPE_MALFORMED; each envelope inside is parsed on its own. */
export function decodeFrame(text: string): Frame {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new RuntimeError('ENVELOPE_MALFORMED', `A frame is JSON, got ${excerpt(text)}.`, {
      cause,
    });
  }
  const { v, hello, envelopes = [], receipts = [] } = expectObject(value, 'frame');
  if (v !== WIRE_VERSION) {
    throw new RuntimeError(
      'ENVELOPE_MALFORMED',
      `This node speaks wire version ${WIRE_VERSION}, the peer ${excerpt(v)}.`,
    );
  }
  if (!Array.isArray(envelopes) || !Array.isArray(receipts)) {
    throw new RuntimeError('ENVELOPE_MALFORMED', '"envelopes" and "receipts" must be lists.');
  }
  return { hello: hello === undefined ? undefined : parseHello(hello), envelopes, receipts };
}

export function encodeHello(hello: Hello): string {
  return JSON.stringify({ v: WIRE_VERSION, hello });
}

export function encodeFrame(envelopes: readonly string[], receipts: readonly string[]): string {
  return `{"v":${WIRE_VERSION},"envelopes":[${envelopes.join(',')}],"receipts":[${receipts.join(',')}]}`;
}

/** From an outbox row, whose event is JSON already. */
export function encodeEnvelope(
  from: string,
  row: Pick<OutboxRow, 'to' | 'counter' | 'text'>,
  settledBelow: number,
): string {
  return `{"to":${JSON.stringify(row.to)},"from":${JSON.stringify(from)},"counter":${row.counter},"settledBelow":${settledBelow},"event":${row.text}}`;
}

export function encodeReceipt(receipt: Receipt): string {
  return JSON.stringify(receipt);
}

function parseHello(value: unknown): Hello {
  const { node, places } = expectObject(value, 'hello');
  if (!Array.isArray(places) || places.length > 1_000) {
    throw new RuntimeError(
      'ENVELOPE_MALFORMED',
      '"hello.places" must be a list of at most 1,000 places.',
    );
  }
  return {
    node: expectName(node, 'hello.node'),
    places: places.map((place) => expectName(place, 'hello.places')),
  };
}
