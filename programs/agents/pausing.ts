/**
 * Commands to a run by its data directory: to pause, to go on, to begin nothing more. A live run applies each once;
 * one that is not applies it when it goes on.
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
  tell(data, name, 'run.drain', ({ state }) => state === 'stopped' || state === 'finishing');

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
