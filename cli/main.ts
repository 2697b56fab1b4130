/**
 * The command `escapement`: what the process begins and ends with.
 *
 * The build puts the line above it that makes the compiled file a program.
 */

import { openLmdbData } from './lmdb-data.ts';
import { Output } from './output.ts';
import { run } from './program.ts';

const exitCode = await run(process.argv.slice(2), new Output(process.stdout, process.stderr), {
  openStoredData: openLmdbData,
});
// Everything is written. A module of the user's may have opened what would keep the process alive.
process.exit(exitCode);
