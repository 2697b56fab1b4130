/**
 * Player process of `simulate --seeds`: plays the seeds that it is handed until there are no more.
 *
 * It is started by its parent only, and ends with it.
 */

import { messageOf } from '../../runtime/base/errors.ts';
import { Batch, type SwarmOptions } from '../../simulator/jobs.ts';
import type { RunFigures, Seen } from '../../simulator/simulation.ts';

/** Messages from the player. */
export type FromPlayer =
  /** It waits for seeds. */
  | { readonly type: 'idle' }
  /** With what no run before has seen here. */
  | { readonly type: 'played'; readonly figures: RunFigures; readonly seen: Seen }
  /** The run could not be played at all. */
  | { readonly type: 'failed'; readonly seed: number; readonly message: string };

/** Messages to the player. */
export type ToPlayer =
  | { readonly type: 'begin'; readonly swarm: SwarmOptions }
  /** None: there are no more. */
  | { readonly type: 'play'; readonly seeds: readonly number[] };

// What a run throws is told by its message, and stacks of the errors that it expects take time.
Error.stackTraceLimit = 0;

let batch = new Batch();
process.on('message', (message: ToPlayer) => void hear(message));
process.on('disconnect', () => process.exit());
// The terminal tells us too; our parent decides how the batch goes on.
process.on('SIGINT', () => {});

async function hear(message: ToPlayer): Promise<void> {
  if (message.type === 'begin') batch = new Batch(message.swarm);
  else if (message.seeds.length === 0) {
    process.disconnect();
    return;
  } else for (const seed of message.seeds) await play(seed);
  tell({ type: 'idle' });
}

async function play(seed: number): Promise<void> {
  try {
    const figures = await batch.run(seed);
    tell({ type: 'played', figures, seen: batch.news() });
  } catch (thrown) {
    tell({ type: 'failed', seed, message: messageOf(thrown) });
  }
}

/** A parent that does not hear it any more has ended, and so does this. */
function tell(message: FromPlayer): void {
  process.send?.(message, (failure: Error | null) => {
    if (failure !== null) process.exit();
  });
}
