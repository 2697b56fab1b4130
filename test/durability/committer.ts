/**
 * A process that commits one turn after the other and says after each how it ended, in one
 * write to standard output: `ack 3 4` (the third send resolved, the counter stands at 4) or
 * `refused 3 COMMIT_REFUSED true 3`. It begins with `ready` and the number it found in the store.
 *
 *   committer.js DIRECTORY COMMITS [OPTIONS]
 *
 * With `plant` it acknowledges too early, which a trace must show.
 */

import { writeSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { open } from 'lmdb';
import { assign, setup } from 'xstate';
import { createRuntime } from '../../create-runtime.ts';
import { lmdbStore } from '../../stores/lmdb.ts';
import { EarlyStore } from '../crash/early-store.ts';

export interface CommitterOptions {
  /** Between two sends, and before one that was refused is followed by the next. */
  readonly pauseMs?: number;
  /** Every commit also keeps this many bytes more. */
  readonly growBytes?: number;
  /** Give up the rights of root first. */
  readonly asNobody?: boolean;
  /** `early`: by a store that settles first. `unsynced`: by LMDB told not to sync. */
  readonly plant?: 'early' | 'unsynced';
}

const [directory = '', commits = '0', optionsText = '{}'] = process.argv.slice(2);
const options: CommitterOptions = JSON.parse(optionsText);
const { pauseMs = 0, growBytes = 0, asNobody = false, plant } = options;
const NOBODY = 65_534;

const counterMachine = setup({
  types: { context: {} as { readonly count: number }, events: {} as { type: 'count.raise' } },
}).createMachine({
  context: { count: 0 },
  on: { 'count.raise': { actions: assign({ count: ({ context }) => context.count + 1 }) } },
});
const blobMachine = setup({
  types: { context: {} as { readonly note: string }, input: {} as { readonly note: string } },
}).createMachine({ context: ({ input }) => ({ note: input.note }) });

function tell(...words: ReadonlyArray<string | number | boolean>): void {
  writeSync(1, `${words.join(' ')}\n`);
}

if (asNobody) process.setuid?.(NOBODY);
try {
  if (plant === 'unsynced') await commitUnsynced();
  else await commitTurns();
} catch (thrown) {
  tell('failed', String((thrown as { code?: string }).code), String(thrown));
  process.exitCode = 1;
}

async function commitTurns(): Promise<void> {
  const stored = lmdbStore(directory);
  const runtime = await createRuntime({
    store: plant === 'early' ? new EarlyStore(stored) : stored,
    kinds: { counter: counterMachine, blob: blobMachine },
    telemetry: false,
  });
  const birth = () => runtime.spawn('counter/1', { ifAbsent: true });
  // The fault that this process is started for may hit here already.
  const counter = await birth().catch(birth);
  const count = () => counter.getSnapshot().context.count;
  tell('ready', count());
  for (let turn = 1; turn <= Number(commits); turn += 1) {
    try {
      if (growBytes > 0) {
        const note = `${turn}`.padEnd(growBytes, 'x');
        await runtime.spawn(`blob/${count()}`, { input: { note }, ifAbsent: true });
      }
      await counter.send({ type: 'count.raise' });
      tell('ack', turn, count());
    } catch (thrown) {
      const { code = 'untyped', retryable = false } = thrown as {
        code?: string;
        retryable?: boolean;
      };
      tell('refused', turn, code, retryable, count());
      await pause(Math.max(1, pauseMs));
    }
    if (pauseMs > 0) await pause(pauseMs);
  }
  await runtime.stop();
  tell('stopped');
}

async function commitUnsynced(): Promise<void> {
  const database = open<string, string>({ path: directory, noSubdir: false, noSync: true });
  tell('ready', 0);
  for (let turn = 1; turn <= Number(commits); turn += 1) {
    await database.put('count', `${turn}`);
    tell('ack', turn, turn);
  }
  await database.close();
  tell('stopped');
}
