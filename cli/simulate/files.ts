/**
 * Plays scenario files one after the other, and prints the result of each.
 *
 * Guarantees: one file has a whole report, several have a line each and a summary. With `--json`
 * standard output has the result and nothing else: an object for one file, otherwise a list in which
 * each result also has its `file`. A file that is no scenario does not keep the others from being
 * played; it is told on standard error, is in no list, and decides the exit code.
 */

import { messageOf, RuntimeError } from '../../runtime/base/errors.ts';
import { resultOf, type ScenarioResult } from '../../simulator/jobs/scenario/result.ts';
import { parseScenario } from '../../simulator/jobs/scenario/scenario.ts';
import { play } from '../../simulator/jobs.ts';
import type { SimulateOptions } from '../commands/simulate.ts';
import { CommandFailure, EXIT, type ExitCode } from '../exit.ts';
import { type Output, printable, printableLines } from '../render/output.ts';
import { findScenarioFiles, readScenarioText } from './scenario-files.ts';
import { holds, printLine, printReport, printSummary } from './scenario-report.ts';

export async function simulateFiles(
  paths: readonly string[],
  { json = false }: SimulateOptions,
  output: Output,
): Promise<ExitCode> {
  const { files, isOne } = findScenarioFiles(paths);
  if (isOne) {
    const result = await simulate(files[0] as string);
    if (json) output.line(JSON.stringify(result, null, 2));
    else printReport(result, output);
    return holds(result) ? EXIT.done : EXIT.broken;
  }
  const results: Array<ScenarioResult & { readonly file: string }> = [];
  let invalid = 0;
  for (const [index, file] of files.entries()) {
    // Nobody reads any more.
    if (output.isClosed) break;
    output.progress(`${index + 1} of ${files.length}: ${printable(file)}`);
    const result = await simulate(file).catch((thrown: unknown) => {
      if (!isInvalid(thrown)) throw thrown;
      output.complain(`${printableLines(messageOf(thrown))}\n`);
      return undefined;
    });
    if (result === undefined) invalid += 1;
    else results.push({ file, ...result });
    if (!json) printLine(file, result, output);
  }
  output.progress(undefined);
  if (json) output.line(JSON.stringify(results, null, 2));
  else printSummary(results, invalid, output);
  if (invalid > 0) return EXIT.badData;
  return results.every(holds) ? EXIT.done : EXIT.broken;
}

async function simulate(file: string): Promise<ScenarioResult> {
  const scenario = parseScenario(readScenarioText(file), file);
  try {
    return resultOf(scenario, await play(scenario.plan));
  } catch (thrown) {
    if (!isInvalid(thrown)) throw thrown;
    // A step that only the run could show to be impossible does not know its file.
    throw new RuntimeError('SCENARIO_INVALID', `${file}: ${messageOf(thrown)}`);
  }
}

function isInvalid(thrown: unknown): boolean {
  if (thrown instanceof CommandFailure) return thrown.exitCode === EXIT.badData;
  return thrown instanceof RuntimeError && thrown.code === 'SCENARIO_INVALID';
}
