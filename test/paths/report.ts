/**
 * Report of walking a machine's paths, in sentences for the person who mends it. Nothing to say is the best
 * that can happen.
 */

import type { PathPlan } from './plan.ts';
import { wordsOf } from './plan.ts';
import type { Difference, Path } from './replay.ts';
import type { WalkedPaths } from './walk.ts';

/** One text for each fault; empty when the machine is covered and the engine agrees with it. */
export function faultsOf({ coverage, differences, throwing }: WalkedPaths): string[] {
  return [
    ...coverage.missing.map((name) => `No path reaches ${name}.`),
    ...coverage.idleExcuses.map((name) => `${name} is excused, and is reached or does not exist.`),
    ...throwing.map((path) => `The machine throws: ${whyOf(path)}\n${pathInWords(path)}`),
    ...differences.map(differenceInWords),
  ];
}

/** How much there was to do, in a line. */
export function summaryOf(plan: PathPlan, walked: WalkedPaths): string {
  const { coverage, paths, situations } = walked;
  const share = (what: 'states' | 'transitions' | 'pairs') =>
    `${coverage[what].reached} of ${coverage[what].all} ${what}`;
  const steps = paths.reduce((sum, path) => sum + path.steps.length, 0);
  const found = `${share('states')}, ${share('transitions')}, ${share('pairs')}`;
  return `${plan.machine.id}: ${found}; ${paths.length} paths of ${steps} steps in ${situations} situations`;
}

function differenceInWords({ path, gait, what, pure, engine }: Difference): string {
  const when = gait === 'restarting' ? ' where it is restarted after every step' : '';
  return `The engine's ${what} differs${when}.\n${pathInWords(path)}\n  pure   ${pure}\n  engine ${engine}`;
}

function pathInWords({ inputName, steps }: Path): string {
  const lines = steps.map(({ step }, index) => `  ${index + 1}. ${wordsOf(step)}`);
  return [`  born as "${inputName}"`, ...lines].join('\n');
}

function whyOf({ steps }: Path): string {
  return steps.at(-1)?.after.thrown ?? '';
}
