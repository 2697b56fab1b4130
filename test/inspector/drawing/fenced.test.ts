/** Messages that a fence kept out, in a simulated run: by the leases that its nodes acquired, and the receipts. */

import { expect, test } from 'vitest';
import { RecordedMessages } from '../../../inspector/recording/recorded-messages.ts';
import { factsOf } from '../../../inspector/recording/simulated.ts';
import { RuntimeError } from '../../../runtime/base/errors.ts';
import { encodeFrame, encodeReceipt } from '../../../runtime/delivery/frame.ts';
import type { HistoryRecord } from '../../../simulator/history.ts';

const JOB = 'job/1@A';
const WORKER = 'worker/1@w';

/** Both nodes of A acquire it in turn; the worker refuses a message of the job to this node. */
function refusedTo(node: string, code: 'NOT_HOSTED' | 'MAILBOX_FULL') {
  const receipt = { from: JOB, to: WORKER, counter: 4, error: new RuntimeError(code, 'no') };
  const facts = [
    { type: 'lease', node: 'first', place: 'A', change: 'acquired', fence: 1 },
    { type: 'sent', node: 'first', from: JOB, counter: 4, to: WORKER, event: { type: 'go' } },
    { type: 'lease', node: 'second', place: 'A', change: 'acquired', fence: 2 },
    {
      type: 'frame',
      node: 'w',
      to: node,
      change: 'sent',
      frame: encodeFrame([], [encodeReceipt(receipt)]),
    },
  ];
  const records = facts.map((fact, index) => ({ ...fact, index, atMs: index * 10 }));
  const lines = factsOf({
    records: records as unknown as HistoryRecord[],
    zero: 1_000,
    places: {},
  });
  const messages = new RecordedMessages();
  for (const line of lines) {
    if (line.type === 'message') messages.sent(line, 1);
    if (line.type === 'fate') messages.befell(line);
  }
  return messages.of(new Set([JOB]));
}

test('a message of a node that another one has succeeded is refused by a fence', () => {
  expect(refusedTo('first', 'NOT_HOSTED')).toMatchObject([
    {
      type: 'go',
      sentAt: 1_010,
      outcome: 'fenced',
      fencedAt: 1_030,
      why: expect.stringContaining('fence'),
    },
  ]);
});

test('of the present host, or for another reason, it is not', () => {
  expect(refusedTo('second', 'NOT_HOSTED')).toMatchObject([{ outcome: 'underWay' }]);
  expect(refusedTo('first', 'MAILBOX_FULL')).toMatchObject([{ outcome: 'underWay' }]);
});
