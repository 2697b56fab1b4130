/**
 * Page of a failure: the run in the inspector, with what broke, what led there and the nearest run that holds, in one
 * file that needs no server. The inspector is loaded when a page is asked for.
 */

import type { AnyStateMachine } from 'xstate';
import { because } from '../explanation.ts';
import { replayOf } from './failure.ts';
import type { SimulationRun } from './run.ts';
import type { Shrunk } from './shrink.ts';

type Machines = Readonly<Record<string, AnyStateMachine>>;

/** @throws {RuntimeError} PACKAGE_MISSING where the page is not built */
export async function pageOf(
  { run, passing }: Shrunk,
  machines: Machines,
  folder?: string,
): Promise<string> {
  const [violation] = run.judgement.violations;
  if (violation === undefined) throw new Error('Nothing was broken in this run.');
  const { failurePage } = await import('../../inspector/failure-page.ts');
  const { plan, records, places } = run;
  const broken = {
    title: `${violation.invariant}, seed ${plan.seed}`,
    run: shown(run),
    violation,
    why: because(records, violation, { places }),
    ...(passing && { passing: { ...passing, run: shown(passing.run) } }),
    replay: replayOf(plan),
    machines,
  };
  return failurePage(broken, folder);
}

function shown({ records, zero, places }: SimulationRun) {
  return { records, zero, places };
}
