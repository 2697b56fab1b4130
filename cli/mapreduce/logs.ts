/** `mapreduce logs`: what the commands of an item's last attempt have printed, and print. */

import { Command } from 'commander';
import { agentIdOf } from '../../machines/mapreduce/addresses.ts';
import { isFinal } from '../../machines/mapreduce/run/context.ts';
import { ItemFile } from '../../programs/mapreduce/items.ts';
import type { StoredData } from '../../programs/mapreduce/stored-data.ts';
import type { StoredRun } from '../../programs/mapreduce/stored-runs.ts';
import { printableLines } from '../../runtime/base/printable.ts';
import type { Surroundings } from '../commands/commands.ts';
import { CommandFailure, EXIT } from '../exit.ts';
import { follow, GrowingFile } from '../render/growing-file.ts';
import { printable } from '../render/output.ts';
import { type DataOptions, looking, withDataOptions } from './options.ts';

interface LogsFlags extends DataOptions {
  readonly run?: string;
  readonly follow?: boolean;
}

interface Attempt {
  readonly agentId: string;
  readonly files: readonly GrowingFile[];
}

export function logsCommand({ output }: Surroundings): Command {
  return withDataOptions(
    new Command('logs')
      .description('Print what the commands of the last attempt at an item have printed.')
      .argument('<item>', 'its id')
      .option('--run <run>', 'of this run; default: the last one')
      .option('-f, --follow', 'go on until the item has its end, also with further attempts'),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  $ escapement mapreduce logs item_7 -f\n\nExit codes: 0 done, 1 there is no such item or run, 64 usage, 65 no such directory.',
    )
    .action(async (itemId: string, { data, json, run, follow: follows = false }: LogsFlags) => {
      const lookAt = () => looking(data, (stored) => lastAttempt(stored, run, itemId));
      const attempts = new Map<string, Attempt>();
      const look = async () => {
        const { agentId, isAtWork, paths } = await lookAt();
        if (!attempts.has(agentId))
          attempts.set(agentId, { agentId, files: paths.map((path) => new GrowingFile(path)) });
        return isAtWork;
      };
      const show = (): void => {
        for (const { agentId, files } of attempts.values())
          for (const file of files)
            for (const text of file.more())
              if (json === true) output.line(JSON.stringify({ ...nameOf(file), agentId, text }));
              else output.write(printableLines(text));
      };
      await look();
      await follow(show, follows, look);
    });
}

function lastAttempt(data: StoredData, runId: string | undefined, itemId: string) {
  const run = runId === undefined ? data.stored.runs().at(-1) : data.stored.run(runId);
  if (run === undefined)
    throw new CommandFailure(
      EXIT.broken,
      runId === undefined ? 'There are no runs.' : `There is no run "${printable(runId)}".`,
    );
  const { runId: id, rules } = run.context;
  const index = indexOf(data, run, itemId);
  const row = data.stored.items(id).get(index);
  if (row === undefined)
    throw new CommandFailure(EXIT.broken, `Item "${printable(itemId)}" has not begun.`);
  const agentId = agentIdOf('map', index, row.attempts);
  const folder = data.folder(id);
  const paths = rules.map.steps.flatMap((_, step) =>
    (['out', 'err'] as const).map((stream) => folder.outputPath(agentId, step, stream)),
  );
  const isRunning =
    run.state !== 'completed' && run.state !== 'failed' && run.state !== 'interrupted';
  return { agentId, paths, isAtWork: isRunning && !isFinal(row) };
}

function indexOf(data: StoredData, run: StoredRun, itemId: string): number {
  const items = new ItemFile(data.folder(run.context.runId).itemsPath);
  try {
    for (let index = 0; index < items.count; index++)
      if (items.at(index).itemId === itemId) return index;
  } finally {
    items.close();
  }
  const what = `There is no item "${printable(itemId)}" in run ${run.context.runId}.`;
  throw new CommandFailure(EXIT.broken, what);
}

/** `…/agent-0-1.2.err`: command 2, what it has printed on standard error. */
function nameOf({ path }: GrowingFile): { readonly command: number; readonly stream: string } {
  const [, command = '0', stream = 'out'] = /\.(\d+)\.(out|err)$/.exec(path) ?? [];
  return { command: Number(command), stream };
}
