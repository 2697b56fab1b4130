/**
 * A store with many records: it opens, and what stays in memory does not grow with it.
 *
 * The time is printed and not judged here; ESCAPEMENT_POPULATION asks for more records.
 */

import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { compiledProgram } from '../kit/compiled.ts';
import { newFolder } from './folders.ts';
import type { Population } from './population-program.ts';

const PROGRAM = 'test/durability/population-program.ts';
const RECORDS = Number(process.env['ESCAPEMENT_POPULATION'] ?? 100_000);
/** Noise of a process; what is remembered per record would be many times as much. */
const GROWTH_BYTES_MAX = 8 * 1024 ** 2;

function run(directory: string, records: number): string {
  const argv = ['--expose-gc', compiledProgram(PROGRAM), directory, `${records}`];
  const { status, stdout, stderr } = spawnSync(process.execPath, argv, { encoding: 'utf8' });
  expect(status, stderr).toBe(0);
  return stdout;
}

function populationOf(records: number): Population & { readonly fileBytes: number } {
  const directory = join(newFolder('population'), 'data');
  run(directory, records);
  const population: Population = JSON.parse(run(directory, records));
  return { ...population, fileBytes: statSync(join(directory, 'data.mdb')).size };
}

test(`${RECORDS} records are opened without being kept`, () => {
  const few = populationOf(1_000);
  const many = populationOf(RECORDS);
  expect([few.records, many.records]).toEqual([1_000, RECORDS]);
  expect(many.heapBytes - few.heapBytes).toBeLessThan(GROWTH_BYTES_MAX);
  const megabytes = (bytes: number) => `${(bytes / 1024 ** 2).toFixed(1)} MiB`;
  process.stdout.write(
    `${RECORDS} records, ${megabytes(many.fileBytes)}: opened in ${many.openMs} ms (1,000: ${few.openMs} ms), ${megabytes(many.heapBytes)} more in use (1,000: ${megabytes(few.heapBytes)})\n`,
  );
});
