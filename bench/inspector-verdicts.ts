/**
 * Verdicts of `why` over simulated timeouts whose cause is known: each run is played, and its history alone is the
 * evidence, as it is of a recording.
 */

import { explainRun } from '../inspector/recording/explain-run.ts';
import { recordsOf } from '../inspector/recording/simulated.ts';
import { play } from '../simulator/index.ts';
import { type KnownCase, knownCases } from './inspector-cases.ts';

export interface Verdict {
  readonly name: string;
  readonly known: string;
  readonly found: string;
  readonly text: string;
}

export async function verdicts(
  count: number,
  progress: (line: string) => void = () => {},
): Promise<Verdict[]> {
  const found: Verdict[] = [];
  for (const known of knownCases(count)) {
    found.push(await verdictOf(known));
    if (found.length % 20 === 0) progress(`${found.length} of ${count} timeouts explained`);
  }
  return found;
}

async function verdictOf({ name, plan, address, cause }: KnownCase): Promise<Verdict> {
  const run = await play(plan, { invariants: [] });
  const answer = await explainRun(plan.name, recordsOf(run), address);
  const isTimeout = answer?.why.endedAt !== undefined;
  return {
    name,
    known: cause,
    found: isTimeout ? (answer?.why.cause ?? 'none') : 'no end',
    text: answer?.why.verdict ?? 'there is no such actor',
  };
}
