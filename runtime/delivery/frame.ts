/**
 * Frames: the text that travels between two nodes.
 *
 * Version 1: `{ v: 1, hello?, envelopes?, receipts? }`. A hello says who is there and which places it hosts
 * now; it is sent whenever that changes, and to any node that asks. Everything that is due to one node in one
 * tick goes into one frame, or into several when it grows large.
 *
 * Entries of a frame that follow each other between the same two actors may share one: a batch, with
 * `counters` and `events` in place of `counter` and `event`, where each message comes `after` the one before
 * it; and a receipt with `counters` for all that was taken. The decoder gives them out one by one. A refusal
 * is always alone. A message that has waited before it was sent, because nobody was there or a copy was lost,
 * says with each copy for how long: `ageMs`, in a batch `agesMs`.
 */

import type { OutboxRow } from '../actor.ts';
import { excerpt, RuntimeError } from '../base/errors.ts';
import { expectCounter, expectName, expectObject, type Receipt } from './envelope.ts';

const WIRE_VERSION = 1;

const PLACES_MAX = 1_000;

/** Messages, or receipts, of one frame: more than ever are collected for one, and no long work to refuse. */
const SINGLES_MAX = 4_096;

/** Messages, or receipts, of one entry. No more of a pair are ever under way. */
export const BATCH_MAX = 64;

export interface Hello {
  readonly node: string;
  readonly places: readonly HostedPlace[];
  /** True when the node wants to be told the same of us. */
  readonly isAsking: boolean;
  /** Places that the receiver claims under a fence lower than one known here. */
  readonly outranked?: readonly OutrankedPlace[];
}

/** `isHosted`: the holder of that fence is known to be up. */
export type OutrankedPlace = readonly [place: string, fence: number, isHosted: boolean];

/** A place and the fence under which the node hosts it: of two that claim it, the higher one does. */
export type HostedPlace = readonly [place: string, fence: number];

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
  return {
    hello: hello === undefined ? undefined : parseHello(hello),
    envelopes: singly(envelopes, envelopesOf),
    receipts: singly(receipts, receiptsOf),
  };
}

export function encodeHello(hello: Hello): string {
  return JSON.stringify({ v: WIRE_VERSION, hello });
}

export function encodeFrame(envelopes: readonly string[], receipts: readonly string[]): string {
  return `{"v":${WIRE_VERSION},"envelopes":[${envelopes.join(',')}],"receipts":[${receipts.join(',')}]}`;
}

/** Encodes an outbox row, whose event is JSON already. */
export function encodeEnvelope(
  from: string,
  row: Pick<OutboxRow, 'to' | 'counter' | 'text'>,
  after: number,
  ageMs = 0,
): string {
  const age = ageMs === 0 ? '' : `,"ageMs":${ageMs}`;
  return `{"to":${JSON.stringify(row.to)},"from":${JSON.stringify(from)},"counter":${row.counter},"after":${after}${age},"event":${row.text}}`;
}

/** Messages of one sender to one receiver, each of them after the one before it. */
export function encodeBatch(
  from: string,
  to: string,
  after: number,
  rows: ReadonlyArray<Pick<OutboxRow, 'counter' | 'text'>>,
  agesMs: readonly number[] = [],
): string {
  const counters = rows.map(({ counter }) => counter).join(',');
  const events = rows.map(({ text }) => text).join(',');
  const ages = agesMs.some((ageMs) => ageMs > 0) ? `,"agesMs":[${agesMs.join(',')}]` : '';
  return `{"to":${JSON.stringify(to)},"from":${JSON.stringify(from)},"after":${after},"counters":[${counters}]${ages},"events":[${events}]}`;
}

export function encodeReceipt(receipt: Receipt): string {
  return JSON.stringify(receipt);
}

/** All of these messages were taken. */
export function encodeTaken(from: string, to: string, counters: readonly number[]): string {
  return `{"from":${JSON.stringify(from)},"to":${JSON.stringify(to)},"counters":[${counters.join(',')}]}`;
}

/** An entry that stands for several. */
interface Batch {
  readonly to: unknown;
  readonly from: unknown;
  readonly after?: unknown;
  readonly counters: readonly unknown[];
  readonly agesMs?: unknown;
  readonly events?: unknown;
}

function isBatch(entry: unknown): entry is Batch {
  const { counters } = (entry ?? {}) as Partial<Batch>;
  return Array.isArray(counters) && counters.length <= BATCH_MAX;
}

/**
 * Splits a batch; an entry that is no batch that can be read stays as it is, and is refused like any
 * other.
 */
function singly(
  entries: readonly unknown[],
  split: (batch: Batch) => readonly unknown[] | undefined,
): readonly unknown[] {
  if (entries.length > SINGLES_MAX) throw tooMany();
  if (!entries.some(isBatch)) return entries;
  const singles: unknown[] = [];
  for (const entry of entries) {
    const parts = isBatch(entry) ? split(entry) : undefined;
    if (parts === undefined) singles.push(entry);
    else for (const part of parts) singles.push(part);
    if (singles.length > SINGLES_MAX) throw tooMany();
  }
  return singles;
}

function tooMany(): RuntimeError {
  const what = `A frame has more than ${SINGLES_MAX} messages or receipts.`;
  return new RuntimeError('ENVELOPE_MALFORMED', what);
}

function envelopesOf(batch: Batch): readonly unknown[] | undefined {
  const { to, from, after, counters, events, agesMs } = batch;
  if (!Array.isArray(events) || events.length !== counters.length) return undefined;
  const ages = Array.isArray(agesMs) ? agesMs : [];
  return events.map((event, index) => ({
    to,
    from,
    counter: counters[index],
    after: index === 0 ? after : counters[index - 1],
    ...(ages[index] !== undefined && { ageMs: ages[index] }),
    event,
  }));
}

function receiptsOf({ from, to, counters }: Batch): readonly unknown[] {
  return counters.map((counter) => ({ from, to, counter }));
}

function parseHello(value: unknown): Hello {
  const { node, places, isAsking, outranked = [] } = expectObject(value, 'hello');
  return {
    node: expectName(node, 'hello.node'),
    places: expectPlaces(places, 'hello.places').map(parsePlace),
    isAsking: isAsking === true,
    outranked: expectPlaces(outranked, 'hello.outranked').map((place): OutrankedPlace => {
      const isHosted = Array.isArray(place) && place[2] === true;
      return [...parsePlace(place), isHosted];
    }),
  };
}

function expectPlaces(value: unknown, what: string): readonly unknown[] {
  if (Array.isArray(value) && value.length <= PLACES_MAX) return value;
  throw new RuntimeError(
    'ENVELOPE_MALFORMED',
    `"${what}" must be a list of at most ${PLACES_MAX} places.`,
  );
}

function parsePlace(value: unknown): HostedPlace {
  const [place, fence] = Array.isArray(value) ? value : [];
  return [expectName(place, 'hello.places'), expectCounter(fence, 'hello.places')];
}
