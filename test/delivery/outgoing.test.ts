/** Entries of a frame: messages that share one, and messages that never do. */

import { expect, test } from 'vitest';
import { RuntimeError } from '../../runtime/base/errors.ts';
import { decodeFrame } from '../../runtime/delivery/frame.ts';
import { Outgoing } from '../../runtime/delivery/outgoing.ts';
import { upTo } from './talkers.ts';

const FROM = 'mail/1@here';
const TO = 'order/1@there';

const row = (counter: number, to = TO) => {
  const event = { type: 'told', number: counter };
  return { counter, to, event, text: JSON.stringify(event) };
};

function entriesOf(outgoing: Outgoing) {
  const frame = outgoing.encode();
  const { envelopes, receipts } = JSON.parse(frame) as Record<string, unknown[]>;
  return { envelopes, receipts, decoded: decodeFrame(frame) };
}

test('messages that follow each other share an entry, in the order they were added', () => {
  const outgoing = new Outgoing();
  for (const counter of [3, 4, 7])
    outgoing.addRow(FROM, row(counter), counter === 7 ? 4 : counter - 1);
  const { envelopes, decoded } = entriesOf(outgoing);
  expect(envelopes).toHaveLength(1);
  expect(decoded.envelopes).toEqual([
    { to: TO, from: FROM, counter: 3, after: 2, event: row(3).event },
    { to: TO, from: FROM, counter: 4, after: 3, event: row(4).event },
    { to: TO, from: FROM, counter: 7, after: 4, event: row(7).event },
  ]);
});

test('nobody shares with another sender, another receiver, a gap or what came between', () => {
  const outgoing = new Outgoing();
  outgoing.addRow(FROM, row(1), 0);
  outgoing.addRow('mail/2@here', row(2), 1);
  outgoing.addRow('mail/2@here', row(3, 'order/2@there'), 2);
  outgoing.addRow('mail/2@here', row(5, 'order/2@there'), 4);
  outgoing.addEnvelope('{"hint":1}');
  outgoing.addRow('mail/2@here', row(6, 'order/2@there'), 5);
  const { envelopes, decoded } = entriesOf(outgoing);
  expect(envelopes).toHaveLength(6);
  expect(decoded.envelopes).toEqual(envelopes);
});

test('a message alone, and a receipt alone, look as they always did', () => {
  const outgoing = new Outgoing();
  outgoing.addRow(FROM, row(1), 0);
  outgoing.addReceipt({ from: FROM, to: TO, counter: 1 });
  const { envelopes, receipts } = entriesOf(outgoing);
  expect(envelopes).toEqual([{ to: TO, from: FROM, counter: 1, after: 0, event: row(1).event }]);
  expect(receipts).toEqual([{ from: FROM, to: TO, counter: 1 }]);
});

test('receipts share an entry whatever came between, but a refusal stands alone and in its place', () => {
  const outgoing = new Outgoing();
  const error = new RuntimeError('EVENT_REFUSED', 'no');
  const other = 'mail/2@here';
  outgoing.addReceipt({ from: FROM, to: TO, counter: 1 });
  outgoing.addReceipt({ from: other, to: TO, counter: 8 });
  outgoing.addReceipt({ from: FROM, to: TO, counter: 2 });
  outgoing.addReceipt({ from: FROM, to: TO, counter: 3, error });
  outgoing.addReceipt({ from: FROM, to: TO, counter: 4 });
  expect(entriesOf(outgoing).receipts).toEqual([
    { from: FROM, to: TO, counters: [1, 2] },
    { from: other, to: TO, counter: 8 },
    { from: FROM, to: TO, counter: 3, error: error.toJSON() },
    { from: FROM, to: TO, counter: 4 },
  ]);
});

test('no entry has more than 64, which is as many as are under way', () => {
  const outgoing = new Outgoing();
  for (const counter of upTo(100)) {
    outgoing.addRow(FROM, row(counter), counter - 1);
    outgoing.addReceipt({ from: FROM, to: TO, counter });
  }
  const { envelopes, receipts, decoded } = entriesOf(outgoing);
  expect([envelopes, receipts].map((list) => list?.length)).toEqual([2, 2]);
  expect(decoded.envelopes).toHaveLength(100);
  expect(decoded.receipts).toHaveLength(100);
});
