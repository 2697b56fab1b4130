/**
 * Commands of a plan: the programs of its agents and experts, and how one talks to them.
 */

import type { Field } from '../../../reading/field.ts';
import { between } from './words.ts';

export type Argv = readonly [string, ...string[]];

/**
 * `lines`: JSON Lines on its standard streams. `plain`: any program that takes a prompt and prints a text, which is
 * its result.
 */
export interface AgentCommand {
  readonly argv: Argv;
  readonly protocol: 'lines' | 'plain';
  /** Of a plain one: where its prompt goes. As an argument it stands for `{prompt}`. */
  readonly prompt: 'stdin' | 'argument';
  /** Of a plain one: `file` asks for checkpoints through a file that it touches. */
  readonly checkpoints: 'none' | 'file';
  /** Texts of standard error that mean that a quota is used up. */
  readonly quotaMatches: readonly string[];
}

export interface ExpertCommand extends AgentCommand {
  readonly maxActive: number;
}

export interface Commands {
  readonly agents: Readonly<Record<string, AgentCommand>>;
  readonly experts: Readonly<Record<string, ExpertCommand>>;
}

const KEYS = {
  command: true,
  protocol: false,
  prompt: false,
  checkpoints: false,
  quotaMatches: false,
  maxActive: false,
} as const;
const { maxActive: _, ...AGENT_KEYS } = KEYS;
type Keys = Readonly<Partial<Record<keyof typeof KEYS, boolean>>>;
const ACTIVE = between(1, 1_000);
const ARGUMENTS_MAX = 1_000;
const MATCHES_MAX = 20;
/** Stands in for the program of what is run by a driver. */
const DRIVEN: Argv = ['driver'];
const USUAL = {
  protocol: 'lines',
  prompt: 'stdin',
  checkpoints: 'none',
  quotaMatches: [] as readonly string[],
} as const;

/** `drivers`: names that need no command, be it as agents or as experts. */
export function readCommands(
  agents: Field | undefined,
  experts: Field | undefined,
  drivers: readonly string[],
): Commands {
  const driven = { ...USUAL, argv: DRIVEN };
  const ofDrivers = <T>(command: T) =>
    Object.fromEntries(drivers.map((name) => [name, command] as const));
  const read = (field: Field | undefined) =>
    field === undefined || field.isNull ? [] : field.entries();
  const keysOf = (name: string, keys: Keys): Keys =>
    drivers.includes(name) ? { ...keys, command: false } : keys;
  return {
    agents: {
      ...ofDrivers(driven),
      ...Object.fromEntries(
        read(agents).map(([name, field]) => [name, readCommand(field, keysOf(name, AGENT_KEYS))]),
      ),
    },
    experts: {
      ...ofDrivers({ ...driven, maxActive: 1 }),
      ...Object.fromEntries(
        read(experts).map(([name, field]) => {
          const keys = keysOf(name, KEYS);
          const record = field.isMap ? field.record(keys) : undefined;
          const maxActive = record?.maxActive?.whole(ACTIVE) ?? 1;
          return [name, { ...readCommand(field, keys), maxActive }];
        }),
      ),
    },
  };
}

function readCommand(field: Field, keys: Keys): AgentCommand {
  if (field.isList) return { ...USUAL, argv: readArgv(field) };
  if (!field.isMap)
    field.wrong('must be a program and its arguments as a list, or a map with command');
  const record = field.isMap ? field.record(keys as typeof KEYS) : undefined;
  if (record === undefined) return { ...USUAL, argv: DRIVEN };
  const { command, protocol, prompt, checkpoints, quotaMatches } = record;
  const argv = command === undefined ? DRIVEN : readArgv(command);
  const where = prompt?.word(['stdin', 'argument'] as const) ?? USUAL.prompt;
  if (where === 'argument' && !argv.some((each) => each.includes('{prompt}')))
    prompt?.wrong('needs an argument with {prompt} in the command');
  return {
    argv,
    protocol: protocol?.word(['lines', 'plain'] as const) ?? USUAL.protocol,
    prompt: where,
    checkpoints: checkpoints?.word(['none', 'file'] as const) ?? USUAL.checkpoints,
    quotaMatches: quotaMatches?.list(readMatch, MATCHES_MAX) ?? USUAL.quotaMatches,
  };
}

function readMatch(field: Field): string | undefined {
  return field.textWhere((text) => {
    try {
      new RegExp(text);
      return true;
    } catch {
      return false;
    }
  }, 'a regular expression');
}

export function readArgv(field: Field): Argv {
  const texts = field.list(
    (each) => each.textWhere((text) => !text.includes('\0'), 'a text'),
    ARGUMENTS_MAX,
  );
  const [program, ...rest] = texts ?? [];
  if (program !== undefined && program !== '') return [program, ...rest];
  if (texts !== undefined && field.items().length === 0)
    field.wrong('must name a program and its arguments');
  return DRIVEN;
}
