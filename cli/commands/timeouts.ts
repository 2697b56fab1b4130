/** `timeouts list|show|stats|recommend|extend`: timers that are armed, incidents, how often limits were reached. */

import { userInfo } from 'node:os';
import { Command, InvalidArgumentError } from 'commander';
import { durationText } from '../../machines/mapreduce/words.ts';
import { requestExtension } from '../../programs/mapreduce/control.ts';
import type { StoredRuns } from '../../programs/mapreduce/stored-runs.ts';
import { activeTimers, incidentOf, statisticsOf } from '../../programs/mapreduce/timeouts.ts';
import { systemClock } from '../../runtime/system/clock.ts';
import { parsePositiveDurationMs } from '../arguments.ts';
import { CommandFailure, EXIT } from '../exit.ts';
import { type DataOptions, looking, withDataOptions } from '../mapreduce/options.ts';
import { recommendCommand } from '../mapreduce/recommend.ts';
import { printable } from '../render/output.ts';
import { printTable } from '../render/table.ts';
import type { Surroundings } from './commands.ts';

interface TimeoutOptions extends DataOptions {
  readonly run?: string;
  readonly byRun?: boolean;
}

const EXAMPLES = `
Examples:
  $ escapement timeouts list
  $ escapement timeouts show agent-7-1
  $ escapement timeouts stats --by-run
  $ escapement timeouts recommend --workflow nightly
  $ escapement timeouts extend agent-7-1 --by 5m

Exit codes: 0 done, 1 there is no such agent or run, 64 usage, 65 no such directory.`;

export function timeoutsCommand(around: Surroundings): Command {
  return new Command('timeouts')
    .addHelpText('after', EXAMPLES)
    .addCommand(listCommand(around))
    .addCommand(showCommand(around))
    .addCommand(statsCommand(around))
    .addCommand(recommendCommand(around))
    .addCommand(extendCommand(around));
}

/** @throws {CommandFailure} where somebody has named a run that there is not */
function checkRun(stored: StoredRuns, runId: string | undefined): void {
  if (runId !== undefined && stored.run(runId) === undefined)
    throw new CommandFailure(EXIT.broken, `There is no run "${printable(runId)}".`);
}

const ofRun = (command: Command): Command =>
  withDataOptions(command).option('--run <id>', 'only of this run').addHelpText('after', EXAMPLES);

function listCommand({ output }: Surroundings): Command {
  return ofRun(new Command('list').description('List the timers that are armed now.')).action(
    async ({ data, json, run }: TimeoutOptions) => {
      const now = systemClock({ unref: true }).now();
      const timers = await looking(data, ({ stored, folder }) => {
        checkRun(stored, run);
        const live = [...stored.live()].filter(
          ({ context }) => run === undefined || context.runId === run,
        );
        return activeTimers(stored, live, now, folder);
      });
      if (json === true) output.line(JSON.stringify({ timers }, null, 2));
      else if (timers.length === 0) output.line('No timer is armed.');
      else
        printTable(
          [
            { title: 'agent', text: ({ agentId }) => agentId },
            { title: 'item', text: ({ itemId }) => itemId ?? '' },
            { title: 'run', text: ({ runId }) => runId },
            { title: 'kind', text: ({ kind }) => kind },
            { title: 'limit', text: ({ limitMs }) => durationText(limitMs ?? 0), side: 'right' },
            { title: 'left', text: ({ remainingMs }) => durationText(remainingMs), side: 'right' },
          ],
          timers,
          output,
        );
    },
  );
}

function showCommand({ output }: Surroundings): Command {
  return ofRun(
    new Command('show').description('Show an attempt: its limits, its end, what it printed.'),
  )
    .argument('<agent>', 'its id')
    .action(async (agentId: string, { data, run }: TimeoutOptions) => {
      const incident = await looking(data, ({ stored, folder }) =>
        incidentOf(stored, folder, agentId, run),
      );
      if (incident === undefined)
        throw new CommandFailure(EXIT.broken, `There is no agent "${printable(agentId)}".`);
      output.line(JSON.stringify(incident, null, 2));
    });
}

function statsCommand({ output }: Surroundings): Command {
  return ofRun(
    new Command('stats').description('Count attempts and timeouts, over all runs or of one.'),
  )
    .option('--by-run', 'each run by itself, the oldest first')
    .action(async ({ data, json, run, byRun }: TimeoutOptions) => {
      const stats = await looking(data, ({ stored }) => {
        checkRun(stored, run);
        const runs = stored
          .runs()
          .filter(({ context }) => run === undefined || context.runId === run);
        if (byRun !== true) return statisticsOf(stored, runs);
        return runs.map((one) => ({ run_id: one.context.runId, ...statisticsOf(stored, [one]) }));
      });
      if (json === true || byRun === true) output.line(JSON.stringify(stats, null, 2));
      else
        for (const [name, value] of Object.entries(stats))
          output.line(
            `${name.padEnd(30)} ${typeof value === 'object' ? JSON.stringify(value) : value}`,
          );
    });
}

/** As long as a limit may be. */
const EXTENSION_MAX_MS = 60 * 86_400_000;

function parseExtension(text: string): number {
  const ms = parsePositiveDurationMs(text);
  if (ms <= EXTENSION_MAX_MS) return ms;
  throw new InvalidArgumentError('It must be 60 days or less.');
}

function extendCommand({ output, setExitCode }: Surroundings): Command {
  return ofRun(new Command('extend').description('Give an attempt of a live run more time.'))
    .argument('<agent>', 'its id')
    .requiredOption('--by <duration>', 'how much, such as 60s', parseExtension)
    .action(async (agentId: string, options: TimeoutOptions & { readonly by: number }) => {
      const { data, json, run, by: byMs } = options;
      const by = userInfo().username;
      const answer = await requestExtension(data, { agentId, byMs, by, runId: run });
      if (!answer.isExtended) setExitCode(EXIT.broken);
      if (json === true) output.line(JSON.stringify(answer));
      else if (answer.isExtended)
        output.line(`${agentId} has ${durationText(answer.remainingMs ?? 0)} left.`);
      else
        output.complain(`error: ${agentId} was not extended: ${printable(answer.reason ?? '')}\n`);
    });
}
