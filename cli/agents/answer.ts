/** `agents answer`, `agents pause` and `agents drain`: what a human says to a run. */

import { Command } from 'commander';
import { answerQuestion } from '../../programs/agents/answering.ts';
import { drainRun, pauseRun, type Told } from '../../programs/agents/pausing.ts';
import { readPartsFile } from '../../programs/agents/plan/parts.ts';
import type { Surroundings } from '../commands/commands.ts';
import { CommandFailure, EXIT } from '../exit.ts';
import { parsePositive } from '../mapreduce/options.ts';
import { type Output, printable } from '../render/output.ts';
import { collect, type DataOptions, withDataOptions } from './options.ts';

interface AnswerFlags extends DataOptions {
  readonly text?: readonly string[];
  readonly tasks?: string;
  readonly timeoutMs?: number;
}

const HELP = `
An option is named by its number, its text or its key. A task that runs out of time again and again is answered
with one of:
  split     two or more --text, or --tasks with a list of prompts, take its place
  clarify   --text is added to what its next attempts are told
  increase  its limit becomes --timeout-ms, by default twice what it is
  skip      what waits for it goes on without it
A question that allows it is answered with accept, edit, respond or ignore, the second and third with --text.

Examples:
  $ escapement agents answer demo-q1 clarify --text "Use UTF-8."
  $ escapement agents answer demo-q2 "the second one"

Exit codes: 0 done, 1 no such question or option, or it was answered before, 64 usage, 78 bad --tasks file.`;

export function answerCommand({ output }: Surroundings): Command {
  return withDataOptions(
    new Command('answer')
      .description('Answer a question, whether its run is live or not.')
      .argument('<question>', 'its id')
      .argument('<answer>', 'an option, or any text where there are none'),
  )
    .option('--text <text>', 'a prompt of split, or what clarify, edit and respond say', collect)
    .option('--tasks <file>', 'parts of split: a list of prompt, agent, priority')
    .option('--timeout-ms <n>', 'the limit of increase', parsePositive)
    .addHelpText('after', HELP)
    .action(async (questionId: string, answer: string, flags: AnswerFlags) => {
      const { data, json, text: texts = [], tasks, timeoutMs } = flags;
      const parts = tasks === undefined ? [] : readPartsFile(tasks);
      const said = { questionId, answer, texts, parts };
      const { refusal } = await answerQuestion(data, {
        ...said,
        ...(timeoutMs !== undefined && { timeoutMs }),
      });
      if (refusal !== null) throw new CommandFailure(EXIT.broken, `${printable(refusal)}.`);
      if (json === true) output.line(JSON.stringify({ questionId, answered: true }));
      else output.line(`${printable(questionId)} answered`);
    });
}

export function pauseCommand({ output }: Surroundings): Command {
  return withDataOptions(
    new Command('pause')
      .description('Pause a run: ask for checkpoints, then stop every attempt.')
      .argument('<run>', 'its id'),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  $ escapement agents pause demo\n\nExit codes: 0 it pauses or did already, 1 it has finished or there is none, 64 usage.',
    )
    .action(async (name: string, { data, json }: DataOptions) =>
      say(name, 'pauses', await pauseRun(data, name), json, output),
    );
}

export function drainCommand({ output }: Surroundings): Command {
  return withDataOptions(
    new Command('drain')
      .description('Let what runs come to its end, and begin nothing more.')
      .argument('<run>', 'its id'),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  $ escapement agents drain demo\n\nExit codes: 0 it drains or did already, 1 it has finished or there is none, 64 usage.',
    )
    .action(async (name: string, { data, json }: DataOptions) =>
      say(name, 'drains', await drainRun(data, name), json, output),
    );
}

function say(
  name: string,
  what: string,
  { refusal, isLate }: Told,
  json: boolean | undefined,
  output: Output,
): void {
  if (refusal !== null) throw new CommandFailure(EXIT.broken, `${printable(refusal)}.`);
  if (json === true) output.line(JSON.stringify({ run: name, changed: !isLate }));
  else output.line(`run ${printable(name)} ${what}${isLate ? ' already' : ''}`);
}
