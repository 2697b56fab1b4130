/** `timeouts recommend`: limits that stored runs speak for, as a part of a workflow, and into its file with `--write`. */

import { Command, InvalidArgumentError } from 'commander';
import { durationText } from '../../machines/mapreduce/words.ts';
import { editsFor, type LimitEdits, writeEdits } from '../../programs/mapreduce/limit-edits.ts';
import {
  type Recommendation,
  recommendationsOf,
  runsOf,
  USUAL_RULES,
} from '../../programs/mapreduce/recommendation.ts';
import type { Surroundings } from '../commands/commands.ts';
import { CommandFailure, EXIT } from '../exit.ts';
import { type Output, printable } from '../render/output.ts';
import { type DataOptions, looking, parsePositive, withDataOptions } from './options.ts';

interface RecommendOptions extends DataOptions {
  readonly workflow?: string;
  readonly percentile: number;
  readonly factor: number;
  readonly minSamples: number;
  readonly write?: boolean;
}

const HELP = `
Examples:
  $ escapement timeouts recommend
  $ escapement timeouts recommend --workflow nightly --percentile 95 --factor 2
  $ escapement timeouts recommend --workflow nightly --write

What took longer than a limit is no sample: it is counted as censored, and above one in a hundred the value is
marked as a lower bound. --write leaves such values alone, and those with too few samples.

Exit codes: 0 done, 1 there is no such workflow, 64 usage, 65 no such directory, 78 the workflow was changed
since its last run, or is not valid.`;

export function recommendCommand({ output }: Surroundings): Command {
  const { percentile, factor, samplesMin } = USUAL_RULES;
  return withDataOptions(
    new Command('recommend').description('Recommend limits by what stored runs took.'),
  )
    .option('--workflow <name>', 'only runs of this workflow')
    .option(
      '--percentile <n>',
      'share of successes that a limit lets pass',
      parsePercentile,
      percentile,
    )
    .option('--factor <n>', 'room above that', parseFactor, factor)
    .option('--min-samples <n>', 'least successes that a value needs', parsePositive, samplesMin)
    .option('--write', 'write them into the file that the workflow last ran from')
    .addHelpText('after', HELP)
    .action(async (options: RecommendOptions, command: Command) => {
      const { data, workflow, write = false, minSamples, json } = options;
      if (write && workflow === undefined) command.error('error: --write needs --workflow');
      const found = await looking(data, ({ stored }) => {
        const runs = runsOf(stored, workflow);
        const rules = {
          percentile: options.percentile,
          factor: options.factor,
          samplesMin: minSamples,
        };
        return { last: runs.at(-1), all: recommendationsOf(stored, runs, rules) };
      });
      if (workflow !== undefined && found.last === undefined)
        throw new CommandFailure(
          EXIT.broken,
          `There is no run of workflow "${printable(workflow)}".`,
        );
      const edits =
        write && found.last !== undefined ? editsFor(data, found.last, found.all) : undefined;
      if (json === true) output.line(JSON.stringify(documentOf(found.all, edits), null, 2));
      else print(found.all, edits, output);
      if (edits !== undefined && edits.changes.length > 0) writeEdits(data, edits);
    });
}

const documentOf = (recommendations: readonly Recommendation[], edits: LimitEdits | undefined) => ({
  recommendations,
  ...(edits !== undefined && { file: edits.file, changes: edits.changes }),
});

function print(
  all: readonly Recommendation[],
  edits: LimitEdits | undefined,
  output: Output,
): void {
  if (edits === undefined) {
    output.line('timeout_config:');
    for (const each of all) {
      const isAgent = each.key === 'agent';
      line(isAgent ? '  ' : '    ', isAgent ? 'agent_timeout_secs' : each.key, each, output);
      if (isAgent && all.length > 1) output.line('  command_timeouts:');
    }
    return;
  }
  const { file, changes } = edits;
  if (changes.length === 0) output.line(`${printable(file)} has these limits already.`);
  else output.line(printable(file));
  for (const { path, from, to } of changes)
    output.line(`  ${printable(path)}: ${from ?? 'none'} → ${to}`);
}

function line(indent: string, key: string, each: Recommendation, output: Output): void {
  const { samples, censored, percentileMs, recommendedSecs, mark } = each;
  const took = percentileMs === null ? '' : `, ${durationText(percentileMs)}`;
  const basis = `${mark === null ? '' : `${mark}; `}${samples} samples${took}, ${censored} censored`;
  if (recommendedSecs === null) output.line(`${indent}# ${key}: ${basis}`);
  else output.line(`${indent}${key}: ${recommendedSecs} # ${basis}`);
}

function parsePercentile(text: string): number {
  return numberIn(text, 1, 100, 'It must be a number from 1 to 100.');
}

function parseFactor(text: string): number {
  return numberIn(text, 1, 1_000_000, 'It must be a number of 1 or more, such as 1.5.');
}

function numberIn(text: string, min: number, max: number, what: string): number {
  const value = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && value >= min && value <= max) return value;
  throw new InvalidArgumentError(what);
}
