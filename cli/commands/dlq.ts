/** `dlq list|show|retry|purge`: items that came to no good end. Messages that could not be handled are `undelivered`. */

import { Command } from 'commander';
import {
  type FailedItemDocument,
  failedItemDocument,
  failedItemsWarning,
  isRetried,
  type Selection,
  selectedItems,
} from '../../programs/mapreduce/failed-items.ts';
import { Host } from '../../programs/mapreduce/host.ts';
import { prepareStored, startRun } from '../../programs/mapreduce/run.ts';
import { parseCount } from '../arguments.ts';
import { CommandFailure, EXIT } from '../exit.ts';
import {
  type DataOptions,
  looking,
  parsePositive,
  parseSeconds,
  withDataOptions,
} from '../mapreduce/options.ts';
import { hosting } from '../mapreduce/run.ts';
import { counted, printable } from '../render/output.ts';
import { printTable } from '../render/table.ts';
import { momentText } from '../render/time-text.ts';
import type { Surroundings } from './commands.ts';

interface DlqOptions extends DataOptions {
  readonly workflow?: string;
  readonly all?: boolean;
}

interface RetryOptions extends DlqOptions {
  readonly parallel: number;
  readonly maxRetries: number;
  readonly agentTimeout?: number;
  readonly force?: boolean;
  readonly quiet?: boolean;
}

interface PurgeOptions extends DlqOptions {
  readonly olderThan?: number;
  readonly yes?: boolean;
}

const EXAMPLES = `
Examples:
  $ escapement dlq list
  $ escapement dlq show item_7
  $ escapement dlq retry --all
  $ escapement dlq purge --older-than 604800 --yes`;
const HELP = `${EXAMPLES}

Exit codes: 0 done, 1 there is no such item, 64 usage, 65 no such directory, 73 a run has the directory.`;

export function dlqCommand(around: Surroundings): Command {
  return new Command('dlq')
    .addHelpText('after', HELP)
    .addCommand(listCommand(around))
    .addCommand(showCommand(around))
    .addCommand(retryCommand(around))
    .addCommand(purgeCommand(around));
}

function selecting(name: string, description: string): Command {
  return withDataOptions(
    new Command(name)
      .description(description)
      .option('--workflow <name>', 'only items of this workflow'),
  );
}

function read(data: string, selection: Selection): Promise<readonly FailedItemDocument[]> {
  return looking(data, ({ stored, folder }) =>
    [...selectedItems(stored, selection)].map((item) =>
      failedItemDocument(item, stored, folder(item.context.runId ?? '')),
    ),
  );
}

function listCommand({ output }: Surroundings): Command {
  return selecting('list', 'List the failed items.')
    .addHelpText('after', HELP)
    .action(async ({ data, json, workflow }: DlqOptions) => {
      const items = await read(data, { itemIds: [], all: true, workflow });
      const warning = await looking(data, ({ stored }) => failedItemsWarning(stored));
      if (warning !== undefined) output.complain(`warning: ${warning}\n`);
      if (json === true) output.line(JSON.stringify({ items }, null, 2));
      else if (items.length === 0) output.line('No item has failed.');
      else
        printTable(
          [
            { title: 'item', text: ({ item_id }) => item_id },
            { title: 'workflow', text: (item) => item.workflow },
            {
              title: 'failures',
              text: ({ failure_count }) => String(failure_count),
              side: 'right',
            },
            { title: 'last', text: ({ last_attempt }) => momentText(last_attempt) },
            {
              title: 'error',
              text: ({ failure_history }) => failure_history.at(-1)?.error_message ?? '',
            },
          ],
          items,
          output,
        );
    });
}

function showCommand({ output }: Surroundings): Command {
  return selecting('show', 'Show a failed item with its history and what was printed.')
    .argument('<item>', 'its id')
    .addHelpText('after', HELP)
    .action(async (itemId: string, { data, workflow }: DlqOptions) => {
      const items = await read(data, { itemIds: [itemId], all: false, workflow });
      const [first] = items;
      if (first === undefined)
        throw new CommandFailure(EXIT.broken, `There is no failed item "${printable(itemId)}".`);
      output.line(JSON.stringify(items.length === 1 ? first : { items }, null, 2));
    });
}

function retryCommand(around: Surroundings): Command {
  return selecting(
    'retry',
    'Run failed items again, by the workflow as it is stored and without its reduce.',
  )
    .argument('[items...]', 'their ids')
    .option('--all', 'all of them')
    .option('--parallel <n>', 'items at a time', parsePositive, 5)
    .option('--max-retries <n>', 'leave out what has failed more often', parseCount, 3)
    .option('--agent-timeout <secs>', 'limit of each attempt', parseSeconds)
    .option('--force', 'also what is not eligible, or has failed too often')
    .option('--quiet', 'show no progress')
    .addHelpText(
      'after',
      `${EXAMPLES}\n\nExit codes: 0 all are done, 1 nothing was selected, 3 some remain, 64 usage, 73 another run has the directory, 130 and 143 stopped by SIGINT or SIGTERM.`,
    )
    .action((itemIds: string[], options: RetryOptions) => retry(itemIds, options, around));
}

async function retry(
  itemIds: string[],
  options: RetryOptions,
  around: Surroundings,
): Promise<void> {
  const { data, all = false, workflow, force = false, maxRetries } = options;
  const found = (await read(data, { itemIds, all, workflow })).filter(
    (item) => force || isRetried(item, maxRetries),
  );
  if (found.length === 0) {
    around.output.complain('Nothing was selected.\n');
    around.setExitCode(EXIT.broken);
    return;
  }
  const byWorkflow = new Map<string, FailedItemDocument[]>();
  for (const item of found)
    byWorkflow.set(item.workflow, [...(byWorkflow.get(item.workflow) ?? []), item]);
  let remaining = 0;
  for (const items of byWorkflow.values()) {
    const document = await hosting(options, around, (host) => {
      const retried = items.map(({ item_id, item_data }) => ({
        itemId: item_id,
        value: item_data,
      }));
      const last = items.at(-1) as FailedItemDocument;
      const { agentTimeout, parallel } = options;
      const given = {
        parallel,
        ...(agentTimeout !== undefined && { agentTimeoutMs: agentTimeout }),
        resolvesFailedItems: true,
      };
      const input = { count: retried.length, items: () => retried };
      return startRun(host, prepareStored(host, last.run_id, given), input, given);
    });
    remaining += items.length - document.summary.done;
    // Somebody has stopped it: the exit code says so, and nothing more begins.
    if (document.status === 'interrupted') return;
  }
  around.setExitCode(remaining === 0 ? EXIT.done : EXIT.partial);
}

function purgeCommand({ output }: Surroundings): Command {
  return selecting('purge', 'Drop failed items for good.')
    .argument('[items...]', 'their ids')
    .option('--all', 'all of them')
    .option('--older-than <secs>', 'only what failed last longer ago', parseSeconds)
    .option('--yes', 'do it')
    .addHelpText('after', HELP)
    .action(async (itemIds: string[], options: PurgeOptions, command: Command) => {
      const { data, all = false, olderThan, workflow, yes, json } = options;
      if (yes !== true) command.error('error: this drops failed items for good: add --yes');
      if (itemIds.length === 0 && !all && olderThan === undefined)
        command.error('error: say what to drop: items, --older-than or --all');
      const host = await Host.open({ data });
      try {
        const isAll = all || (itemIds.length === 0 && olderThan !== undefined);
        const oldest = host.clock.now() - (olderThan ?? 0);
        const found = [...selectedItems(host.stored, { itemIds, all: isAll, workflow })].filter(
          ({ context }) =>
            olderThan === undefined || (context.history.at(-1)?.timestamp ?? 0) < oldest,
        );
        const named = new Set(found.map(({ context }) => context.itemId));
        const unknown = itemIds.find((id) => !isAll && olderThan === undefined && !named.has(id));
        if (unknown !== undefined)
          throw new CommandFailure(
            EXIT.broken,
            `There is no failed item "${printable(unknown)}". Nothing was dropped.`,
          );
        for (const { address } of found)
          await host.runtime
            .actor(address as `failed-item/${string}`)
            .send({ type: 'record.purged' });
        if (json === true) output.line(JSON.stringify({ purged: found.length }));
        else output.line(`${counted(found.length, 'item')} dropped.`);
      } finally {
        await host.close();
      }
    });
}
