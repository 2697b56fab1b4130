/**
 * Explanation of a map-reduce run: its end and the items that made it, or what it waits for.
 */

import type { RunContext } from '../../machines/mapreduce/run/context.ts';
import type { WhyCase } from './evidence.ts';
import type { JobFindings } from './job.ts';
import { clockText, shortAddress, spanText } from './words.ts';

/** Context as it is stored: the tables lie beside it, so nothing here looks into them. */
type Stored = Omit<RunContext, 'items' | 'retries' | 'agents' | 'recording'>;

/** Undefined where the context is not that of a run. */
export function whyMapRun({ subject, at }: WhyCase): JobFindings | undefined {
  const context = subject.context as Stored | undefined;
  if (context?.rules?.itemCount === undefined) return undefined;
  const name = shortAddress(subject.address);
  const { startedAt, endedAt, counts, rules, reason } = context;
  const usedMs = (endedAt ?? at) - startedAt;
  const sums = `${counts.done} done, ${counts.dlq} dlq, ${counts.skipped} skipped, ${counts.failed} failed of ${rules.itemCount}`;
  const base = { usedMs, ...(endedAt !== null && { endedAt }), ...(reason !== null && { reason }) };
  switch (subject.state) {
    case 'completed':
      return {
        ...base,
        cause: 'completed',
        verdict: `${name} completed after ${spanText(usedMs)}: ${sums}.`,
        advice: counts.dlq > 0 ? ['See "escapement dlq list".'] : [],
      };
    case 'failed':
      return {
        ...base,
        cause: 'failed',
        verdict: `${name} failed after ${spanText(usedMs)}: ${reason ?? 'no reason is known'}. ${sums}.`,
        advice: ['Mend what failed, then continue it: escapement mapreduce resume.'],
      };
    case 'interrupted':
      return {
        ...base,
        cause: 'cancelled',
        verdict: `${name} was stopped after ${spanText(usedMs)}: ${sums}.`,
        advice: ['Continue it: escapement mapreduce resume.'],
      };
  }
  return {
    ...base,
    cause: 'alive',
    verdict: `${name} ${waitText(subject.state, subject.deadlines[0]?.dueAt)}: ${sums}.`,
    advice: [],
  };
}

/** The states of its flow, in words. */
const FLOWS: ReadonlyArray<readonly [part: string, text: string]> = [
  ['"flow":"paused"', 'pauses, because an item said that a quota is used up'],
  ['"flow":"probing"', 'tries one item, after a quota was used up'],
  [
    '"flow":"draining"',
    'lets its attempts end and begins no more, because too many items have failed',
  ],
  ['"mapping"', 'is at its items'],
  ['reducing', 'is at the steps after the map'],
  ['settingUp', 'is at the steps before the map'],
  ['failing', 'fails, and waits for its attempts to end'],
  ['interrupting', 'is being stopped, and waits for its attempts to end'],
  ['resuming', 'waits for the attempts of the runner before to end'],
];

function waitText(state: string, dueAt: number | null | undefined): string {
  const text = FLOWS.find(([part]) => state.includes(part))?.[1] ?? `is "${state}"`;
  return dueAt == null ? text : `${text}; its next moment is ${clockText(dueAt)}`;
}
