/**
 * Commands to a run by its data directory: to pause, to go on, to begin nothing more. A live run applies each once;
 * one that is not applies a pause when it goes on, and has nothing to drain.
 */

import { openStoredData, type StoredRun } from './stored-runs.ts';

/** `refusal`: why nothing has changed. `isLate`: it was so already. */
export interface Told {
  readonly refusal: string | null;
  readonly isLate: boolean;
}

type Command = 'session.pause' | 'session.resumed' | 'run.drain';

export const pauseRun = (data: string, name: string): Promise<Told> =>
  tell(data, name, 'session.pause', ({ state }) => state === 'paused' || state.includes('pausing'));

export const resumeLiveRun = (data: string, name: string): Promise<Told> =>
  tell(data, name, 'session.resumed', () => false);

export const drainRun = (data: string, name: string): Promise<Told> =>
  tell(data, name, 'run.drain', ({ state }) => RESTS.includes(state) || state === 'finishing');

/** States in which nothing runs that could come to its end. */
const RESTS: readonly string[] = ['stopped', 'blocked'];

async function tell(
  data: string,
  name: string,
  type: Command,
  isSoAlready: (run: StoredRun) => boolean,
): Promise<Told> {
  const { stored, folder, close } = await openStoredData(data);
  try {
    const run = stored.named(name);
    if (run === undefined) return { refusal: `there is no run "${name}"`, isLate: false };
    if (run.state === 'finished') return { refusal: `run ${name} has finished`, isLate: false };
    if (isSoAlready(run)) return { refusal: null, isLate: true };
    return { refusal: null, isLate: !folder(run.context.runId).writeCommand({ type }) };
  } finally {
    await close();
  }
}
