/**
 * Command options that tell `start` and `config` about a node, and the result of reading them: a
 * configuration that is good, or an error that says where it is not.
 */

import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { Argument, type Command, Option } from 'commander';
import { collect } from '../arguments.ts';
import { CommandFailure, EXIT } from '../exit.ts';
import { readConfigurationFile } from './configuration-file.ts';
import type { Host } from './host.ts';
import type { Given } from './layers.ts';
import { type Resolved, resolveNode } from './resolve.ts';
import { ROLES, type Role, SETTINGS } from './settings.ts';

/** File that is read when no other is named. */
const DEFAULT_FILE = 'escapement.yml';

export type NodeOptions = Readonly<Record<string, unknown>> & {
  readonly config?: string;
  readonly set?: readonly string[];
};

/** Adds `--config`, `--set` and the flags of every setting that has one. */
export function addNodeOptions(command: Command): Command {
  command.option(
    '--config <file>',
    `the configuration file; default ./${DEFAULT_FILE} if there is one`,
  );
  for (const { flag, meaning, roles, choices, isRepeated } of Object.values(SETTINGS)) {
    if (flag === undefined) continue;
    const whose = roles.length === ROLES.length ? '' : ` (${roles.join(', ')})`;
    if (isRepeated === true)
      command.option(flag, `${meaning}${whose}; may be given several times`, collect);
    else if (choices === undefined) command.option(flag, meaning + whose);
    else command.addOption(new Option(flag, meaning + whose).choices(choices));
  }
  return command.option(
    '--set <key=value>',
    'any other setting, such as jobs.leaseMs=9000; may be given several times',
    collect,
  );
}

/** `name` is `<role>`, or `[role]` where the file may say it. */
export function roleArgument(name: string): Argument {
  return new Argument(name, 'what the node is').choices(ROLES);
}

/** `role` may be left out where the file says it. @throws {CommandFailure} */
export function configurationOf(
  role: Role | undefined,
  options: NodeOptions,
  host: Pick<Host, 'cwd' | 'env'>,
): Resolved {
  const { env } = host;
  const cwd = host.cwd();
  const named = options.config ?? (env.ESCAPEMENT_CONFIG || undefined);
  const path = named ?? (existsSync(resolve(cwd, DEFAULT_FILE)) ? DEFAULT_FILE : undefined);
  const read = path === undefined ? undefined : readConfigurationFile(resolve(cwd, path), path);
  const assignments = options.set ?? [];
  for (const assignment of assignments)
    if (!/^[A-Za-z][\w.]*=/.test(assignment))
      throw new CommandFailure(
        EXIT.usage,
        `--set is written key=value, got "${assignment.slice(0, 64)}".`,
      );
  return resolveNode({
    role: role ?? roleIn(read?.values),
    file: read === undefined ? undefined : { ...read, path: path as string },
    env,
    flags: flagsOf(options),
    assignments,
    cwd,
    processors: availableParallelism(),
  });
}

function roleIn(values: Readonly<Record<string, unknown>> = {}): Role {
  const role = ROLES.find((known) => known === values.role);
  if (role !== undefined) return role;
  const what = `Say which role it is for: ${ROLES.join(', ')}; or write "role" into the file.`;
  throw new CommandFailure(EXIT.usage, what);
}

/** Flags that were given, by the path of their settings. */
function flagsOf(options: NodeOptions): Record<string, Given> {
  const flags: Record<string, Given> = {};
  for (const [path, { flag }] of Object.entries(SETTINGS)) {
    const name = flag
      ?.split(' ')[0]
      ?.slice(2)
      .replace(/-([a-z])/g, (_, letter) => letter.toUpperCase());
    const given = name === undefined ? undefined : options[name];
    if (given !== undefined) flags[path] = given as Given;
  }
  return flags;
}
