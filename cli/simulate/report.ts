/**
 * Reports of failures on disk: a folder for each, with everything that is needed to see it again.
 *
 * Guarantees: shrinking takes about as long as it is given, and what has been found by then is
 * reported. Nothing is written over: a folder is new, or its name gets a number, and no link that
 * lies in wait there leads a file elsewhere.
 */

import { lstatSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { versions } from 'node:process';
import {
  type FailureReport,
  type JobsInvariant,
  type Plan,
  reportFailure,
} from '../../simulator/jobs.ts';
import { makeDirectory } from '../../stores/directory/data-directory.ts';
import { CommandFailure, EXIT } from '../exit.ts';
import { ownVersion } from '../own-version.ts';
import { type Output, printable } from '../render/output.ts';

export interface ReportFileOptions {
  readonly plan: Plan;
  /** Its id. */
  readonly invariant: string;
  /** The folder of this failure; default: one named by seed and invariant. */
  readonly folder?: string;
  /** Time that shrinking may take. Default 60 s. */
  readonly budgetMs?: number;
  /** Default 20. */
  readonly confirmations?: number;
  /** Default: all there are for jobs. */
  readonly invariants?: readonly JobsInvariant[];
}

const BUDGET_MS = 60_000;
const FOLDER = './escapement-failures';
/** In a clone of the repository: there the test belongs into `test/`, and is about the sources. */
const RUNS_FROM_SOURCES = import.meta.url.endsWith('.ts');

/** Makes the report of a failure, writes its files and prints it. False when nothing broke after all. */
export async function writeReport(
  {
    plan,
    invariant,
    budgetMs = BUDGET_MS,
    folder: wanted = folderOf(plan, invariant),
    ...options
  }: ReportFileOptions,
  output: Output,
): Promise<boolean> {
  const folder = unused(wanted);
  const startedAt = performance.now();
  const elapsedMs = (): number => performance.now() - startedAt;
  let smaller = 0;
  const report = await reportFailure({
    ...options,
    plan,
    invariant,
    folder,
    about: `escapement=${ownVersion()} node=${versions.node}`,
    release: ownVersion(),
    ...(RUNS_FROM_SOURCES && { entry: '../simulator/index.ts' }),
    elapsedMs,
    mayGoOn: () => elapsedMs() < budgetMs,
    onTry: (tries, isSmaller) => {
      if (isSmaller) smaller += 1;
      output.progress(`seed ${plan.seed}, ${invariant}: ${tries} tries, ${smaller} times smaller`);
    },
  });
  output.progress(undefined);
  if (report === undefined) return false;
  const names = [...writeFiles(report, folder), ...(await writePage(report, folder))];
  for (const line of report.lines) output.line(printable(line));
  output.line(`files: ${printable(folder)}: ${names.join(', ')}`);
  return true;
}

function writeFiles({ files }: FailureReport, folder: string): readonly string[] {
  makeDirectory(dirname(folder));
  // Fails where something has come to be there in the meantime, a link too.
  mkdirSync(folder);
  for (const [name, text] of Object.entries(files))
    writeFileSync(join(folder, name), text, { flag: 'wx' });
  return Object.keys(files);
}

/** The run in the inspector's page, in one file; nothing where the page is not built. */
async function writePage(
  { plan, run, violation, why, passing }: FailureReport,
  folder: string,
): Promise<readonly string[]> {
  const { findPage } = await import('../../inspector/static-files.ts');
  if (findPage() === undefined) return [];
  const { failurePage } = await import('../../inspector/failure-page.ts');
  const { recordsOf } = await import('../../inspector/recording/simulated.ts');
  const page = failurePage({
    title: `${plan.name}, seed ${plan.seed}`,
    run: recordsOf(run),
    violation,
    why,
    ...(passing && { passing: { ...passing, run: recordsOf(passing.run) } }),
    replay: `escapement simulate --replay ${join(folder, 'plan.json')} --trace`,
  });
  writeFileSync(join(folder, PAGE), page, { flag: 'wx' });
  return [PAGE];
}
const PAGE = 'inspector.html';

/** Number of names that may be taken: far more than anybody looks at. */
const NUMBER_MAX = 10_000;

/** The name, or the first with a number behind it, that nothing has yet. @throws {CommandFailure} */
function unused(folder: string): string {
  for (let number = 1; number <= NUMBER_MAX; number += 1) {
    const name = number === 1 ? folder : `${folder}-${number}`;
    if (lstatSync(name, { throwIfNoEntry: false }) === undefined) return name;
  }
  throw new CommandFailure(EXIT.locked, `${folder}: there are ${NUMBER_MAX} such folders already.`);
}

/** Ids of invariants are words, but a folder must not be led astray by one. */
function folderOf({ seed }: Plan, invariant: string): string {
  return `${FOLDER}/${seed}-${invariant.replace(/[^A-Za-z0-9_-]/g, '_')}`;
}
