/**
 * Bars of the time that an actor has, below its states on a lane: of a job its base, what it was given, and the time
 * it may go on without progress; of any other actor its armed deadlines. Pure.
 */

import type { LaneBar } from './protocol.ts';
import type { Evidence } from './why/evidence.ts';
import { budgetOf, factsOf } from './why/job-sums.ts';

export function budgetBars(evidence: Evidence, at: number): LaneBar[] {
  const facts = factsOf(evidence);
  if (facts === undefined)
    return evidence.deadlines.flatMap(({ name, armedAt, dueAt }): LaneBar[] =>
      armedAt === undefined
        ? []
        : [{ sort: 'deadline', from: armedAt, to: dueAt, label: name, outcome: 'armed' }],
    );
  const found = { at, subject: evidence, related: new Map(), usual: new Map(), gaps: [] };
  const bars: LaneBar[] = [];
  let from = facts.baseAt;
  for (const { sort, ms, text } of budgetOf(found, facts).budget) {
    if (ms <= 0 || sort === 'denied') continue;
    bars.push({ sort: sort === 'base' ? 'base' : 'extension', from, to: from + ms, label: text });
    from += ms;
  }
  if (evidence.status === 'active')
    bars.push({
      sort: 'stuck',
      from: facts.lastProgressAt,
      to: facts.lastProgressAt + facts.stuckThresholdMs,
      label: 'may go on so long without progress',
    });
  return bars;
}
