/**
 * Command `escapement`: the beginning and the end of its process.
 *
 * The build puts the line above it that makes the compiled file a program.
 */

import { isToBeGuarded, runGuarded } from './guarded.ts';
import { run } from './program.ts';
import { Output } from './render/output.ts';
import { beat, isToBeWatched, runWatched } from './watched.ts';

const runApart = isToBeGuarded(process)
  ? runGuarded
  : isToBeWatched(process)
    ? runWatched
    : undefined;
if (runApart !== undefined) {
  process.exit(await runApart(process, (text) => process.stderr.write(text)));
}
const tellOver = beat(process);
const exitCode = await run(process.argv.slice(2), new Output(process.stdout, process.stderr), {
  openStoredData: async (directory, purpose) =>
    (await import('./loaders/lmdb-data.ts')).openLmdbData(directory, purpose),
  env: process.env,
  host: process,
  input: process.stdin,
});
tellOver();
// Everything is written. A module of the user's may have opened what would keep the process alive.
process.exit(exitCode);
