/** `agents run|resume|status|questions|answer|pause|drain|logs`: plans of tasks for agents. */

import { Command } from 'commander';
import { answerCommand, drainCommand, pauseCommand } from '../agents/answer.ts';
import { logsCommand, questionsCommand, statusCommand } from '../agents/look.ts';
import { resumeCommand, runCommand } from '../agents/run.ts';
import type { Surroundings } from './commands.ts';

const EXAMPLES = `
Examples:
  $ escapement agents run plan.yml
  $ escapement agents status
  $ escapement agents questions
  $ escapement agents answer demo-q1 skip
  $ escapement agents pause demo`;

export function agentsCommand(around: Surroundings): Command {
  return new Command('agents')
    .addHelpText('after', EXAMPLES)
    .addCommand(runCommand(around))
    .addCommand(resumeCommand(around))
    .addCommand(statusCommand(around))
    .addCommand(questionsCommand(around))
    .addCommand(answerCommand(around))
    .addCommand(pauseCommand(around))
    .addCommand(drainCommand(around))
    .addCommand(logsCommand(around));
}
