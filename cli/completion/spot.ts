/**
 * Spots of a command line, and what can be typed at each: behind the program, a command, a command of
 * a command.
 */

import type { Command } from 'commander';

export interface Word {
  readonly word: string;
  readonly description: string;
}

export interface Flag extends Word {
  /** It has a value behind it. */
  readonly takesValue: boolean;
  /** The values there are, where they are few. */
  readonly choices: readonly string[];
}

export interface Spot {
  /** The commands typed so far: none, `data`, `data info`. */
  readonly path: string;
  readonly commands: readonly Word[];
  readonly flags: readonly Flag[];
  /** Choices for its first argument. */
  readonly choices: readonly string[];
}

const HELP: Flag = {
  word: '--help',
  description: 'display help for command',
  takesValue: false,
  choices: [],
};

/** The program's own spot first. */
export function spotsOf(commands: readonly Command[]): readonly Spot[] {
  const version = { ...HELP, word: '--version', description: 'print the version of this release' };
  const names = [...commands.map(wordOf), { word: 'help', description: 'explain a command' }];
  const first: Spot = { path: '', commands: names, flags: [version, HELP], choices: [] };
  return [first, ...commands.flatMap((command) => below(command, ''))];
}

function below(command: Command, above: string): readonly Spot[] {
  const path = `${above}${command.name()}`;
  const flags = command.options
    .filter(({ hidden }) => !hidden)
    .map(({ long, description, required, optional, argChoices = [] }) => ({
      word: long ?? '',
      description,
      takesValue: required || optional,
      choices: argChoices,
    }));
  const choices = command.registeredArguments[0]?.argChoices ?? [];
  const own = { path, commands: command.commands.map(wordOf), flags: [...flags, HELP], choices };
  return [own, ...command.commands.flatMap((inner) => below(inner, `${path} `))];
}

function wordOf(command: Command): Word {
  return { word: command.name(), description: command.description() };
}

/** In single quotes a shell takes everything as it is, but for them. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
