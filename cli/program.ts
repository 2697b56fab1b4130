/**
 * The program: collects the commands, runs the one that was asked for, and turns
 * whatever came of it into an exit code.
 *
 * Guarantees: wrong usage does nothing and exits 64 with the usage on standard error;
 * every failure is one of the codes in cli/exit.ts. It never ends the process and knows
 * no streams but those it is given, so that tests run it as it is.
 */

import { Command, CommanderError } from 'commander';
import { checkUpgradeCommand } from './check-upgrade.ts';
import { dataCommand } from './data-commands.ts';
import { EXIT, type ExitCode, failureOf } from './exit.ts';
import { type Output, printableLines } from './output.ts';
import { simulateCommand } from './simulate.ts';
import type { OpenStoredData } from './stored-data.ts';
import { ownVersion, versionCommand } from './version.ts';

export interface Sources {
  /** Opens a data directory for `data`, which is offered only where there is something to open it with. */
  readonly openStoredData?: OpenStoredData;
}

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
  const program = programOf(output, setExitCode, sources);
  try {
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

function programOf(
  output: Output,
  setExitCode: (code: ExitCode) => void,
  { openStoredData }: Sources,
): Command {
  const program = new Command('escapement')
    .description(
      'Durable actors for XState v5: look at stored data, rehearse upgrades, play scenarios.',
    )
    .version(ownVersion(), '--version', 'print the version of this release')
    .addCommand(checkUpgradeCommand(output, setExitCode))
    .addCommand(simulateCommand(output, setExitCode))
    .addCommand(versionCommand(output));
  if (openStoredData !== undefined)
    program.addCommand(dataCommand(output, setExitCode, openStoredData));
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
