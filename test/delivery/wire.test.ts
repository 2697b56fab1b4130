/** Frames of peers, who may send anything: the result is a frame, or a refusal of a known code. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { errorFromShape, excerpt, RuntimeError } from '../../runtime/base/errors.ts';
import { parseEnvelope, parseReceipt } from '../../runtime/delivery/envelope.ts';
import {
  decodeFrame,
  encodeBatch,
  encodeEnvelope,
  encodeFrame,
  encodeHello,
  encodeReceipt,
  encodeTaken,
} from '../../runtime/delivery/frame.ts';
import { upTo } from './talkers.ts';

const GOOD = {
  to: 'order/42@shop',
  from: 'mail/1@shop',
  counter: 2,
  after: 1,
  event: { type: 'order.paid', at: 5 },
};

function refusal(parse: () => unknown): string {
  try {
    parse();
  } catch (thrown) {
    if (!(thrown instanceof RuntimeError)) throw thrown;
    expect(thrown.message.length).toBeLessThan(400);
    return thrown.code;
  }
  return 'none';
}

const CODES = ['none', 'ENVELOPE_MALFORMED', 'EVENT_RESERVED'];

describe('bytes from a peer', () => {
  test('decode, or fail in the way that is promised', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json(), fc.json({ maxDepth: 8 })), (text) => {
        expect(CODES).toContain(refusal(() => decodeFrame(text)));
      }),
    );
  });

  test('H47: with any value in any field parse, or fail in the way that is promised', () => {
    const value = fc.oneof(
      fc.jsonValue(),
      fc.constantFrom(Number.NaN, 2 ** 53, -1, 1.5, 1e308, '', '\u202e\u0000', 'x'.repeat(5_000)),
    );
    const keys = fc.constantFrom('to', 'from', 'counter', 'after', 'event', 'v', 'hello');
    fc.assert(
      fc.property(keys, value, (key, wrong) => {
        const broken = { ...GOOD, v: 1, [key]: wrong };
        expect(CODES).toContain(refusal(() => parseEnvelope(broken)));
        expect(CODES).toContain(refusal(() => parseReceipt(broken)));
        expect(CODES).toContain(refusal(() => decodeFrame(JSON.stringify(broken))));
      }),
    );
  });

  test.each([
    '',
    '{',
    'null',
    '[]',
    '1',
    '{"v":2}',
    '{"v":1,"hello":{"node":"a"}}',
    '{"v":1,"hello":{"node":"a","places":[["p",-1]]}}',
    '{"v":1,"hello":{"node":"a","places":[],"outranked":[["p"]]}}',
    '{"v":1,"envelopes":{}}',
    `{"v":1,"hello":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
    `${'['.repeat(100_000)}`,
  ])('H44, H60: that are no frame of this version are refused: %#', (text) => {
    expect(refusal(() => decodeFrame(text))).toBe('ENVELOPE_MALFORMED');
  });

  test('H45: may not be nested deeply, and a bomb of 100,000 levels does not go off', () => {
    const nested = (depth: number) =>
      JSON.parse(`{"type":"e","x":${'['.repeat(depth)}${']'.repeat(depth)}}`);
    expect(refusal(() => parseEnvelope({ ...GOOD, event: nested(31) }))).toBe('none');
    expect(refusal(() => parseEnvelope({ ...GOOD, event: nested(32) }))).toBe('ENVELOPE_MALFORMED');
    const bomb = nested(100_000);
    expect(refusal(() => parseEnvelope({ ...GOOD, event: bomb }))).toBe('ENVELOPE_MALFORMED');
    expect(refusal(() => parseEnvelope({ ...GOOD, to: bomb }))).toBe('ENVELOPE_MALFORMED');
    expect(refusal(() => parseEnvelope(bomb))).toBe('ENVELOPE_MALFORMED');
    expect(excerpt(bomb)).toBe('"something of type object"');
  });

  test('H45: may not have objects of more than 1,000 keys', () => {
    const wide = Object.fromEntries(Array.from({ length: 1_001 }, (_, key) => [`k${key}`, 1]));
    const event = { type: 'e', wide };
    expect(refusal(() => parseEnvelope({ ...GOOD, event }))).toBe('ENVELOPE_MALFORMED');
  });

  test.each(['__proto__', 'constructor', 'prototype'])('may not use the key %s', (key) => {
    for (const text of [`{"type":"e","${key}":{"x":1}}`, `{"type":"e","a":[{"${key}":{"x":1}}]}`]) {
      const event = JSON.parse(text);
      expect(refusal(() => parseEnvelope({ ...GOOD, event }))).toBe('ENVELOPE_MALFORMED');
    }
    expect(({} as { x?: unknown }).x).toBeUndefined();
  });

  test.each([
    ['to', 'order/42'],
    ['to', '../../etc/passwd'],
    ['to', 'order/42@'],
    ['to', ''],
    ['to', `order/${'k'.repeat(10_240)}@a`],
    ['to', 'order/\u{1f600}@a'],
    ['to', 'order/4\u00002@a'],
    ['to', `order/${'k'.repeat(129)}@a`],
    ['from', 'a\u0000b'],
    ['from', '\u202egro'],
    ['from', ''],
    ['counter', -1],
    ['counter', 1.5],
    ['counter', 2 ** 53],
    ['counter', 1e308],
    ['counter', null],
    ['counter', '2'],
    ['after', 2],
    ['after', null],
    ['event', null],
    ['event', []],
    ['event', { type: '' }],
    ['event', { type: 7 }],
    ['event', { type: 'e', replyTo: 7 }],
    ['event', { type: 'e', replyTo: 'nobody' }],
  ])('H47, H57: with a wrong "%s" are refused: %j', (key, wrong) => {
    expect(refusal(() => parseEnvelope({ ...GOOD, [key]: wrong }))).toBe('ENVELOPE_MALFORMED');
  });

  test.each([
    'xstate.stop',
    'xstate.after.1.x',
    'xstate.done.actor.c',
    'leadership.acquired',
    'message.refused',
  ])('H46: may not bring the event %s', (type) => {
    expect(refusal(() => parseEnvelope({ ...GOOD, event: { type } }))).toBe('EVENT_RESERVED');
  });
});

describe('what one node writes', () => {
  test('another one reads', () => {
    const text = fc.stringMatching(/^[A-Za-z0-9._:-]{1,20}$/);
    const event = fc.record({
      type: fc.string({ minLength: 1 }),
      data: fc.jsonValue({ maxDepth: 5 }),
    });
    fc.assert(
      fc.property(text, text, fc.nat(), event, (key, place, counter, data) => {
        fc.pre(
          !data.type.startsWith('xstate.') &&
            !/__proto__|constructor|prototype/.test(JSON.stringify(data)),
        );
        const row = {
          to: `order/${key}@${place}`,
          counter: counter + 1,
          text: JSON.stringify(data),
        };
        const receipt = { from: `mail/${key}@${place}`, to: row.to, counter };
        const frame = decodeFrame(
          encodeFrame([encodeEnvelope('mail/1@x', row, counter)], [encodeReceipt(receipt)]),
        );
        const parsed = frame.envelopes.map(parseEnvelope);
        const event = JSON.parse(row.text);
        expect(parsed).toEqual([
          { to: row.to, from: 'mail/1@x', counter: counter + 1, after: counter, event },
        ]);
        expect(frame.receipts.map(parseReceipt)).toEqual([receipt]);
      }),
    );
    const hello = { node: 'a', places: [['p', 3] as const], isAsking: true };
    expect(decodeFrame(encodeHello(hello)).hello).toEqual({ ...hello, outranked: [] });
    const outranked = [['p', 9, true] as const, ['q', 2, false] as const];
    expect(decodeFrame(encodeHello({ ...hello, outranked })).hello?.outranked).toEqual(outranked);
  });

  test('an error crosses as code and message, and an unknown one as INTERNAL', () => {
    const error = new RuntimeError('MAILBOX_FULL', 'full');
    const shape = JSON.parse(JSON.stringify(error));
    expect(errorFromShape(shape)).toMatchObject({ code: 'MAILBOX_FULL', retryable: true });
    for (const wrong of [null, 5, {}, { code: 'constructor' }, { message: { toString: 5 } }])
      expect(errorFromShape(wrong)).toMatchObject({ code: 'INTERNAL', retryable: false });
  });
});

describe('an entry that stands for several', () => {
  const from = 'mail/1@x';
  const to = 'order/1@shop';
  const row = (counter: number) => ({ counter, text: `{"type":"e","number":${counter}}` });

  test('is read as the messages and receipts it stands for, each after the one before it', () => {
    const batch = encodeBatch(from, to, 4, [5, 6, 9].map(row));
    const { envelopes, receipts } = decodeFrame(
      encodeFrame([batch], [encodeTaken(from, to, [5, 6, 9])]),
    );
    expect(envelopes.map(parseEnvelope)).toEqual([
      { to, from, counter: 5, after: 4, event: { type: 'e', number: 5 } },
      { to, from, counter: 6, after: 5, event: { type: 'e', number: 6 } },
      { to, from, counter: 9, after: 6, event: { type: 'e', number: 9 } },
    ]);
    expect(receipts.map(parseReceipt)).toEqual([5, 6, 9].map((counter) => ({ from, to, counter })));
  });

  test('stands where it stood among the others', () => {
    const single = encodeEnvelope(from, { to, ...row(1) }, 0);
    const batch = encodeBatch(from, to, 1, [2, 3].map(row));
    const { envelopes } = decodeFrame(encodeFrame([single, batch, single], []));
    expect(envelopes.map((each) => parseEnvelope(each).counter)).toEqual([1, 2, 3, 1]);
  });

  test.each([
    ['without events', { counters: [5, 6] }],
    ['with fewer events than numbers', { counters: [5, 6], events: [{ type: 'e' }] }],
    ['with more events than numbers', { counters: [5], events: [{ type: 'e' }, { type: 'e' }] }],
    ['with numbers that fall', { counters: [6, 5], events: [{ type: 'e' }, { type: 'e' }] }],
    ['with something that is no number', { counters: [5, '6'], events: [{ type: 'e' }, {}] }],
    ['that is longer than what may be under way', { counters: upTo(65), events: upTo(65) }],
    ['that is no list', { counters: 5, events: [{ type: 'e' }] }],
  ])('is refused %s', (_, wrong) => {
    const { envelopes } = decodeFrame(
      encodeFrame([JSON.stringify({ to, from, after: 4, ...wrong })], []),
    );
    const found = envelopes.map((each) => refusal(() => parseEnvelope(each)));
    expect(found).toContain('ENVELOPE_MALFORMED');
  });

  test('does not make a frame of more than is ever sent in one', () => {
    const receipt = encodeTaken(from, to, upTo(64));
    const receipts = (count: number) => encodeFrame([], Array<string>(count).fill(receipt));
    expect(decodeFrame(receipts(64)).receipts).toHaveLength(4_096);
    expect(refusal(() => decodeFrame(receipts(65)))).toBe('ENVELOPE_MALFORMED');
    const singles = Array<string>(4_097).fill('{}');
    expect(refusal(() => decodeFrame(encodeFrame(singles, [])))).toBe('ENVELOPE_MALFORMED');
  });
});
