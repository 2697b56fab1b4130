/** `agents status`, `agents questions` and `agents logs`: what a run does, asks and has printed. */

import { Command } from 'commander';
import {
  type QuestionDocument,
  questionsOf,
  type StatusDocument,
  statusDocument,
} from '../../programs/agents/documents.ts';
import { printableLines } from '../../runtime/base/printable.ts';
import { systemClock } from '../../runtime/system/clock.ts';
import type { Surroundings } from '../commands/commands.ts';
import { CommandFailure, EXIT } from '../exit.ts';
import { follow, GrowingFile } from '../render/growing-file.ts';
import { type Output, printable } from '../render/output.ts';
import { printTable } from '../render/table.ts';
import { momentText } from '../render/time-text.ts';
import {
  type DataOptions,
  looking,
  runOf,
  valueText,
  whereText,
  withDataOptions,
} from './options.ts';
import { seconds } from './progress.ts';

export function statusCommand({ output }: Surroundings): Command {
  return withDataOptions(
    new Command('status')
      .description('Show a run: its tasks, who is at work, what is asked.')
      .argument('[run]', 'its id; default: the last one'),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  $ escapement agents status\n  $ escapement agents status demo --json\n\nExit codes: 0 done, 1 there is no such run, 64 usage.',
    )
    .action(async (name: string | undefined, { data, json }: DataOptions) => {
      const document = await looking(data, (stored) =>
        statusDocument(stored.stored, runOf(stored, name), systemClock().now()),
      );
      if (json === true) output.line(JSON.stringify(document, null, 2));
      else printStatus(document, output);
    });
}

function printStatus(document: StatusDocument, output: Output): void {
  const { runId, status, slots, slotsInUse, questions, agents, experts, tasks } = document;
  output.line(`run ${runId} ${status} · ${slotsInUse}/${slots} slots`);
  for (const { id, text } of questions) output.line(`needs you: ${id}: ${printable(text)}`);
  printTable(
    [
      { title: 'task', text: ({ id }) => id },
      { title: 'state', text: ({ state }) => state },
      { title: 'attempts', text: ({ attempts }) => String(attempts.length), side: 'right' },
      { title: 'timeouts', text: ({ timeoutCount }) => String(timeoutCount), side: 'right' },
    ],
    tasks,
    output,
  );
  if (agents.length > 0)
    printTable(
      [
        { title: 'attempt', text: ({ attemptId }) => attemptId },
        { title: 'does', text: ({ state }) => state },
        { title: 'quiet', text: ({ quietMs }) => seconds(quietMs), side: 'right' },
        { title: 'left', text: ({ remainingMs }) => seconds(remainingMs), side: 'right' },
        {
          title: 'misses',
          text: ({ checkpointMisses }) => String(checkpointMisses),
          side: 'right',
        },
        { title: 'last checkpoint', text: ({ lastCheckpoint }) => lastCheckpoint ?? '' },
      ],
      agents,
      output,
    );
  for (const { delegationId, expert, isQueued } of experts)
    output.line(`expert ${expert} for ${delegationId}${isQueued ? ', queued' : ''}`);
}

export function questionsCommand({ output }: Surroundings): Command {
  return withDataOptions(
    new Command('questions')
      .description('List what runs ask you.')
      .option('--run <run>', 'only of this run'),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  $ escapement agents questions\n  $ escapement agents questions --run demo --json\n\nExit codes: 0 done, 1 there is no such run, 64 usage.',
    )
    .action(async ({ data, json, run }: DataOptions & { readonly run?: string }) => {
      const questions = await looking(data, (stored) => {
        const runs = run === undefined ? stored.stored.runs() : [runOf(stored, run)];
        return runs.flatMap((each) => (each.state === 'finished' ? [] : questionsOf(each)));
      });
      if (json === true) output.line(JSON.stringify({ questions }, null, 2));
      else if (questions.length === 0) output.line('There are no questions.');
      else {
        for (const each of questions) printQuestion(each, output);
        const example = `escapement agents answer ${questions[0]?.id} …${whereText(data)}`;
        output.line(output.paint('dim', `Answer: ${example}`));
      }
    });
}

function printQuestion(question: QuestionDocument, output: Output): void {
  const { id, task, kind, text, options, keys, allow, context, askedAtMs } = question;
  const from = kind === 'agent' ? 'asked by its agent' : 'out of time too often, asked';
  output.line(`${id}  task ${task}, ${from} ${momentText(askedAtMs)}`);
  output.line(`  ${printable(text)}`);
  if (context !== null) output.line(`  about: ${printable(valueText(context))}`);
  for (const [index, option] of (options ?? allow ?? []).entries())
    output.line(`  ${index + 1}. ${printable(option)}${keys === null ? '' : ` (${keys[index]})`}`);
}

export function logsCommand({ output }: Surroundings): Command {
  return withDataOptions(
    new Command('logs')
      .description(
        'Print what the last attempt at a task has printed that is no line of the protocol.',
      )
      .argument('<task>', 'its id')
      .option('--run <run>', 'of this run; default: the last one')
      .option('-f, --follow', 'go on until the attempt has ended'),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  $ escapement agents logs api -f\n\nExit codes: 0 done, 1 there is no such task, 64 usage.',
    )
    .action(
      async (
        task: string,
        {
          data,
          json,
          run,
          follow: follows = false,
        }: DataOptions & { readonly run?: string; readonly follow?: boolean },
      ) => {
        const lookAt = () =>
          looking(data, (stored) => {
            const found = runOf(stored, run);
            const row = found.context.tasks.get(task);
            if (row === undefined)
              throw new CommandFailure(EXIT.broken, `There is no task "${printable(task)}".`);
            const attemptId = `${task}#${row.attempts}`;
            const { runId } = found.context;
            const path = stored.folder(runId).logPath(attemptId);
            return { attemptId, path, isAtWork: found.context.live.has(attemptId) };
          });
        const { attemptId, path } = await lookAt();
        const log = new GrowingFile(path);
        const show = (): void => {
          for (const text of log.more())
            if (json === true) output.line(JSON.stringify({ attemptId, text }));
            else output.write(printableLines(text));
        };
        await follow(show, follows, async () => (await lookAt()).isAtWork);
      },
    );
}
