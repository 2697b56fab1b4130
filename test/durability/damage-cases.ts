/**
 * Has many damaged copies opened by `damage-program.ts`, and goes on behind one that kills it.
 */

import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { compiledProgram } from '../kit/compiled.ts';
import type { Contents } from './contents.ts';
import type { Damage } from './damage.ts';
import type { Opened } from './damage-program.ts';

const PROGRAM = 'test/durability/damage-program.ts';
/** No case takes longer than a few ms; one that takes so long would never end. */
const HUNG_MS = 10_000;

export type Outcome = Opened | { readonly index: number; readonly killedBy: string };

/** `folder` has the sound `data.mdb`. */
export async function openAll(
  folder: string,
  contents: Contents,
  cases: readonly Damage[],
): Promise<readonly Outcome[]> {
  writeFileSync(join(folder, 'contents.json'), JSON.stringify(contents));
  writeFileSync(join(folder, 'cases.json'), JSON.stringify(cases));
  const outcomes: Outcome[] = [];
  while (outcomes.length < cases.length) await openFrom(folder, outcomes, cases.length);
  return outcomes;
}

/** Runs one process from the first case that has no outcome until it is done, or dead. */
async function openFrom(folder: string, outcomes: Outcome[], count: number): Promise<void> {
  const child = spawn(process.execPath, [compiledProgram(PROGRAM), folder, `${outcomes.length}`], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', (text) => {
    errors += text;
  });
  const hung = setTimeout(() => child.kill('SIGKILL'), HUNG_MS);
  let begun = -1;
  createInterface({ input: child.stdout }).on('line', (line) => {
    const told = JSON.parse(line) as { begins?: number } & Opened;
    hung.refresh();
    if (told.begins === undefined) outcomes.push(told);
    else begun = told.begins;
  });
  const killedBy = await new Promise<string>((resolve) => {
    child.on('close', (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
  clearTimeout(hung);
  if (outcomes.length === count) return;
  // Whatever ended it between two cases is no damaged file's doing.
  if (begun !== outcomes.length) throw new Error(`The program ended (${killedBy}): ${errors}`);
  outcomes.push({ index: begun, killedBy: killedBy === 'SIGKILL' ? 'hung' : killedBy });
}
