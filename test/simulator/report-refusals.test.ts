/** The refusal after which nothing was sent again, in the chain of a failure report: on histories made by hand. */

import { expect, test } from 'vitest';
import { encodeFrame } from '../../runtime/delivery/frame.ts';
import { because } from '../../simulator/explanation/because.ts';
import type { HistoryFact, HistoryRecord } from '../../simulator/history/history.ts';

const GATE_JOB = 'gate-job/j1@gate-1';
const JOB = 'job/j1@A';

function historyOf(
  ...facts: ReadonlyArray<readonly [node: string, fact: HistoryFact]>
): readonly HistoryRecord[] {
  return facts.map(
    ([node, fact], index) => ({ index, atMs: index * 100, node, ...fact }) as HistoryRecord,
  );
}

function turn(
  address: string,
  number: number,
  event: { readonly type: string; readonly [field: string]: unknown },
  from?: string,
): readonly [string, HistoryFact] {
  const place = address.slice(address.indexOf('@') + 1);
  const kind = address.slice(0, address.indexOf('/'));
  const message = { from, counter: from === undefined ? undefined : number };
  const after = { state: 'active', context: {}, error: undefined };
  return [
    place,
    { type: 'turn', place, address, kind, turn: number, takenAt: 0, event, ...message, ...after },
  ];
}

const declared = { type: 'timeout.declared' };
const sent = (counter: number): readonly [string, HistoryFact] => [
  'gate-1',
  { type: 'sent', place: 'gate-1', from: GATE_JOB, counter, to: JOB, event: declared },
];
const frame = (
  node: string,
  to: string,
  change: 'sent' | 'delivered',
  text: string,
): readonly [string, HistoryFact] => [node, { type: 'frame', to, change, frame: text }];

const message = encodeFrame(
  [JSON.stringify({ to: JOB, from: GATE_JOB, counter: 7, after: 0, event: declared })],
  [],
);
const refusal = encodeFrame(
  [],
  [
    JSON.stringify({
      from: GATE_JOB,
      to: JOB,
      counter: 7,
      error: { code: 'SENDER_REFUSED', message: 'no', retryable: false },
    }),
  ],
);
const violation = {
  invariant: 'FE-5',
  says: 'It is obeyed.',
  what: `${JOB} has refused a decision and heard no more`,
  atMs: 10_000,
  node: '',
  record: null,
};
const decided = turn(GATE_JOB, 1, { type: 'timeout.reported' });
const corrected = turn(
  GATE_JOB,
  2,
  { type: 'status.corrected', correction: 'staleFence', rejectedDecisionEpoch: '1.1' },
  JOB,
);

test('an answer that refuses, and after which its sender sent nothing', () => {
  const records = historyOf(
    decided,
    sent(7),
    turn(JOB, 3, declared, GATE_JOB),
    corrected,
    turn(GATE_JOB, 3, { type: 'job.viewed' }),
  );
  const { lines, records: told } = because(records, violation);
  expect(lines.at(-1)).toContain(
    `${GATE_JOB} took a refusal of ${JOB}, status.corrected (staleFence), and sent it nothing after it`,
  );
  expect(told).toContain(3);
});

test('is left out where the sender has tried again', () => {
  const records = historyOf(
    decided,
    sent(7),
    turn(JOB, 3, declared, GATE_JOB),
    corrected,
    sent(8),
    turn(JOB, 4, declared, GATE_JOB),
  );
  expect(because(records, violation).lines.join('\n')).not.toContain('refusal');
});

test('a message that the runtime of its receiver refused for good', () => {
  const records = historyOf(
    turn(JOB, 2, { type: 'job.assembled' }),
    decided,
    sent(7),
    frame('gate-1', 'A.manager-1', 'sent', message),
    frame('A.manager-1', 'gate-1', 'delivered', refusal),
  );
  expect(because(records, violation).lines.at(-1)).toContain(
    `message 7 of ${GATE_JOB} was refused by ${JOB}: SENDER_REFUSED; it was not sent again`,
  );
});

test('and not one that was sent again, or is about somebody else', () => {
  const records = historyOf(
    turn(JOB, 2, { type: 'job.assembled' }),
    frame('gate-1', 'A.manager-1', 'sent', message),
    frame('A.manager-1', 'gate-1', 'delivered', refusal),
    frame('gate-1', 'A.manager-1', 'sent', message),
  );
  expect(because(records, violation).lines.join('\n')).not.toContain('refused by');
  const others = records.slice(0, 3);
  const what = 'workflow/j2/w1@A has not ended';
  expect(because(others, { ...violation, what }).lines.join('\n')).not.toContain('refused by');
});
