/**
 * Program: collects the commands, runs the command that was asked for, and turns
 * whatever came of it into an exit code.
 *
 * Guarantees: wrong usage does nothing and exits 64 with the usage on standard error;
 * every failure is one of the codes in cli/exit.ts. It never ends the process and knows
 * no streams but those it is given, so that tests run it as it is.
 */

import { Command, CommanderError } from 'commander';
import { commandsFor, type Surroundings } from './commands/commands.ts';
import { EXIT, type ExitCode, failureOf } from './exit.ts';
import { ownVersion } from './own-version.ts';
import { type Output, printableLines } from './render/output.ts';

/** Beside the streams; what is left out is not there. */
export type Sources = Partial<Omit<Surroundings, 'output' | 'setExitCode'>>;

const EXAMPLES = `
Examples:
  $ escapement demo
  $ escapement submit --timeout 10m --workflow nightly=report --watch
  $ escapement jobs --status running --stuck-for 30s
  $ escapement start node --kinds ./machines.js
  $ escapement send order/42 order.paid
  $ escapement simulate --seeds 100

Each command has its own examples: escapement <command> --help.`;

/** Runs one command line, without the names of Node and of the program. */
export async function run(
  args: readonly string[],
  output: Output,
  sources: Sources = {},
): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.done;
  const setExitCode = (code: ExitCode): void => {
    exitCode = code;
  };
  try {
    const commands = await commandsFor(args, { env: {}, ...sources, output, setExitCode });
    const program = programOf(commands, output);
    await program.parseAsync(args, { from: 'user' });
  } catch (thrown) {
    exitCode = codeOf(thrown, output);
  }
  output.progress(undefined);
  try {
    await output.flushed();
  } catch (thrown) {
    output.complain(`error: the result could not be written: ${failureOf(thrown).message}\n`);
    exitCode = EXIT.io;
  }
  return exitCode;
}

function programOf(commands: readonly Command[], output: Output): Command {
  const program = new Command('escapement')
    .description('Durable actors for XState v5, and a jobs system made of them.')
    .version(ownVersion(), '--version', 'print the version of this release')
    .commandsGroup('About:')
    .addHelpText('after', EXAMPLES);
  for (const command of commands) program.addCommand(command);
  settle(program, output, '');
  return program;
}

/** The same manners for every command, however deep. */
function settle(command: Command, output: Output, above: string): void {
  const name = `${above}${command.name()}`;
  command
    .exitOverride()
    .showHelpAfterError(`usage: ${name} ${command.usage()}\nSee "${name} --help".`)
    .configureOutput({
      writeOut: (text) => output.write(text),
      // It repeats what was typed.
      writeErr: (text) => output.complain(printableLines(text)),
    });
  for (const inner of command.commands) settle(inner, output, `${name} `);
}

function codeOf(thrown: unknown, output: Output): ExitCode {
  // Commander has said what is wrong; help that was asked for is no error.
  if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? EXIT.done : EXIT.usage;
  const { exitCode, message } = failureOf(thrown);
  output.complain(`error: ${printableLines(message)}\n`);
  return exitCode;
}
