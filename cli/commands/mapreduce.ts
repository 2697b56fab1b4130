/** `mapreduce run|resume|validate|list|show|logs`: commands for many items, bounded in time. */

import { Command } from 'commander';
import { durationText } from '../../machines/mapreduce/words.ts';
import { runDocument } from '../../programs/mapreduce/documents.ts';
import { laterLimitText, prepare } from '../../programs/mapreduce/run.ts';
import { statusOf } from '../../programs/mapreduce/stored-runs.ts';
import type { Limits } from '../../programs/mapreduce/workflow.ts';
import { CommandFailure, EXIT } from '../exit.ts';
import { logsCommand } from '../mapreduce/logs.ts';
import { type DataOptions, looking, parseSeconds, withDataOptions } from '../mapreduce/options.ts';
import { resumeCommand, runCommand } from '../mapreduce/run.ts';
import { type Output, printable } from '../render/output.ts';
import { printTable } from '../render/table.ts';
import { momentText } from '../render/time-text.ts';
import type { Surroundings } from './commands.ts';

const EXAMPLES = `
Examples:
  $ escapement mapreduce run workflow.yml
  $ escapement mapreduce validate workflow.yml
  $ escapement mapreduce list
  $ escapement mapreduce show 4f1kq0v2
  $ escapement mapreduce logs item_7 -f`;

export function mapreduceCommand(around: Surroundings): Command {
  return new Command('mapreduce')
    .addHelpText('after', EXAMPLES)
    .addCommand(runCommand(around))
    .addCommand(resumeCommand(around))
    .addCommand(validateCommand(around))
    .addCommand(listCommand(around))
    .addCommand(showCommand(around))
    .addCommand(logsCommand(around));
}

function validateCommand({ output }: Surroundings): Command {
  return new Command('validate')
    .description('Check a workflow, and print its limits and warnings.')
    .argument('<workflow>', 'the workflow file')
    .option('--agent-timeout <secs>', 'as "run" has it', parseSeconds)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  $ escapement mapreduce validate workflow.yml\n\nExit codes: 0 valid, 64 usage, 65 invalid JSONPath, 78 invalid workflow.',
    )
    .action((file: string, { agentTimeout, json }: { agentTimeout?: number; json?: boolean }) => {
      const prepared = prepare(
        file,
        agentTimeout === undefined ? {} : { agentTimeoutMs: agentTimeout },
      );
      const { limits, warnings, workflow } = prepared;
      const commands = workflow.map.template.map(({ type }, index) => ({
        index,
        type,
        limitMs: limits.commandLimitsMs[index] ?? null,
        isTimed: limits.steps[index]?.limitMs !== null,
      }));
      const { agentLimitMs, agentPercent } = limits;
      if (json === true)
        output.line(
          JSON.stringify({ valid: true, agentLimitMs, agentPercent, commands, warnings }),
        );
      else printLimits(limits, commands, warnings, output);
    });
}

function printLimits(
  { agentLimitMs, agentPercent }: Limits,
  commands: ReadonlyArray<{
    index: number;
    type: string;
    limitMs: number | null;
    isTimed: boolean;
  }>,
  warnings: readonly string[],
  output: Output,
): void {
  const limit = agentLimitMs === null ? 'without a limit' : durationText(agentLimitMs);
  output.line(`agent ${limit}${laterLimitText(agentPercent)}`);
  for (const { index, type, limitMs, isTimed } of commands)
    output.line(
      `command ${index} (${type}) ${durationText(limitMs ?? 0)}${isTimed ? '' : ', no timer of its own'}`,
    );
  for (const warning of warnings) output.line(`warning: ${printable(warning)}`);
}

function listCommand({ output }: Surroundings): Command {
  return withDataOptions(new Command('list').description('List the runs of a directory.'))
    .addHelpText(
      'after',
      '\nExamples:\n  $ escapement mapreduce list --json\n\nExit codes: 0 done, 64 usage, 65 no such directory.',
    )
    .action(async ({ data, json }: DataOptions) => {
      const runs = await looking(data, ({ stored }) =>
        stored.runs().map((run) => ({
          runId: run.context.runId,
          workflow: run.context.rules.workflow,
          status: statusOf(run),
          startedAtMs: run.context.startedAt,
          endedAtMs: run.context.endedAt,
          items: run.context.rules.itemCount,
          summary: run.context.counts,
        })),
      );
      if (json === true) output.line(JSON.stringify({ runs }, null, 2));
      else if (runs.length === 0) output.line('There are no runs.');
      else
        printTable(
          [
            { title: 'run', text: ({ runId }) => runId },
            { title: 'workflow', text: ({ workflow }) => workflow },
            { title: 'status', text: ({ status }) => status },
            { title: 'started', text: ({ startedAtMs }) => momentText(startedAtMs) },
            {
              title: 'done',
              text: ({ summary, items }) => `${summary.done}/${items}`,
              side: 'right',
            },
            { title: 'dlq', text: ({ summary }) => String(summary.dlq), side: 'right' },
          ],
          runs,
          output,
        );
    });
}

function showCommand({ output }: Surroundings): Command {
  return withDataOptions(
    new Command('show').description('Show a run with its items.').argument('<run>', 'its id'),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  $ escapement mapreduce show 4f1kq0v2\n\nExit codes: 0 done, 1 there is no such run, 64 usage, 65 no such directory.',
    )
    .action(async (runId: string, { data, json }: DataOptions) => {
      const document = await looking(data, ({ stored, folder }) => {
        const run = stored.run(runId);
        return run && runDocument(stored, run, folder(runId));
      });
      if (document === undefined)
        throw new CommandFailure(EXIT.broken, `There is no run "${printable(runId)}".`);
      if (json === true) {
        output.line(JSON.stringify(document, null, 2));
        return;
      }
      const { status, reason, summary, items } = document;
      output.line(`run ${runId} ${status}${reason === null ? '' : `: ${printable(reason)}`}`);
      const { done, dlq, skipped, failed } = summary;
      output.line(`${done} done · ${dlq} dlq · ${skipped} skipped · ${failed} failed`);
      printTable(
        [
          { title: 'item', text: ({ itemId }) => itemId },
          { title: 'outcome', text: ({ outcome }) => outcome },
          { title: 'reason', text: ({ reason: why }) => why ?? '' },
          { title: 'attempts', text: ({ attempts }) => String(attempts.length), side: 'right' },
        ],
        items,
        output,
      );
    });
}
