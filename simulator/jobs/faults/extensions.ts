/** Runs that ask for more time, at the bidding of a nemesis. */

import type { RecordedContext } from '../recorded-handler.ts';
import type { JobsStrike } from '../scene.ts';

/** A run asks for more time: as far along as chance has it, or as it said last. */
export function askForMore({ chance }: JobsStrike, run: RecordedContext): void {
  const progress = chance.whole(0, 100) / 100;
  const reason = 'long_workflow' as const;
  const wish = chance.is(0.7) ? { progress, reason } : { reason };
  // A run that stops before the answer has come gets none.
  run.extend(wish).catch(() => undefined);
}

/** Everything that runs on these workers asks for more time, again and again. */
export function askForTime(strike: JobsStrike, workers: readonly string[], everyMs: number): void {
  const ask = (): void => {
    for (const worker of workers) {
      if (!strike.world.node(worker).isRunning) continue;
      for (const run of strike.scene.system.runningOn(worker)) askForMore(strike, run);
    }
    strike.after(everyMs, ask);
  };
  ask();
}
