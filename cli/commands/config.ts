/**
 * `config check` and `config print`: what a node would be started with, without starting it.
 *
 * Both read everything that a start reads, files of secrets and certificates included, and end
 * with the same exit codes. No secret is ever printed.
 */

import { Command } from 'commander';
import {
  addNodeOptions,
  configurationOf,
  type NodeOptions,
  roleArgument,
} from '../node/command-options.ts';
import type { Host } from '../node/host.ts';
import { valueAt } from '../node/layers.ts';
import { describeOrigin } from '../node/origin.ts';
import type { Resolved } from '../node/resolve.ts';
import type { Role } from '../node/settings.ts';
import { type Output, printable } from '../render/output.ts';
import type { Surroundings } from './commands.ts';

const EXAMPLES = `
Examples:
  $ escapement config check --config manager.yml
  $ escapement config print worker --config worker.yml --json`;

const HELP = `
The role may be left out when the file says it.

Examples:
  $ escapement config check manager --config manager.yml
  $ escapement config print worker --config worker.yml --json

Exit codes: 0 it is good, 64 usage, 77 a file may not be read, 78 bad configuration.`;

interface ConfigOptions extends NodeOptions {
  readonly json?: boolean;
}

export function configCommand(around: Surroundings): Command {
  const { output } = around;
  const host = around.host as Host;
  const resolved = (role: Role | undefined, options: ConfigOptions): Resolved =>
    configurationOf(role, options, host);
  const check = nodeCommand('check', 'Say whether a node could be started with it.').action(
    (role: Role | undefined, options: ConfigOptions) => {
      const { configuration } = resolved(role, options);
      const { node, datacenter, place, warnings } = configuration;
      if (options.json === true)
        output.line(JSON.stringify({ ok: true, role: configuration.role, node, place, warnings }));
      else {
        for (const warning of warnings) output.complain(`warning: ${printable(warning)}\n`);
        output.line(`OK: ${configuration.role} ${node} of ${datacenter || place}`);
      }
    },
  );
  const print = nodeCommand('print', 'Print every setting and where it comes from.').action(
    (role: Role | undefined, options: ConfigOptions) =>
      printSettings(resolved(role, options), options.json === true, output),
  );
  return new Command('config').addCommand(check).addCommand(print).addHelpText('after', EXAMPLES);
}

function nodeCommand(name: string, description: string): Command {
  const command = new Command(name).description(description).addArgument(roleArgument('[role]'));
  return addNodeOptions(command).option('--json', 'print JSON').addHelpText('after', HELP);
}

interface PrintedSetting {
  readonly value: unknown;
  readonly origin: string;
}

function printSettings(
  { configuration, layered }: Resolved,
  isJson: boolean,
  output: Output,
): void {
  const settings = Object.fromEntries(settingsOf(layered));
  if (configuration.secret !== undefined) {
    const isVariable =
      layered.origins.get('secretFile')?.from !== 'flag' && !('secretFile' in settings);
    if (isVariable) settings.secret = { value: '(hidden)', origin: 'ESCAPEMENT_SECRET' };
  }
  if (isJson) {
    output.line(JSON.stringify({ role: configuration.role, settings }, null, 2));
    return;
  }
  const width = Math.max(...Object.keys(settings).map((path) => path.length));
  for (const [path, { value, origin }] of Object.entries(settings))
    output.line(
      `${path.padEnd(width)}  ${printable(JSON.stringify(value))}  ${output.paint('dim', `# ${origin}`)}`,
    );
}

/** Settings that are lists, or values without parts; what has parts is told part by part. */
function settingsOf({ values, origins }: Resolved['layered']): Array<[string, PrintedSetting]> {
  const paths = [...origins.keys()].filter((path) => {
    const value = valueAt(values, path);
    const isWhole = typeof value !== 'object' || value === null || Array.isArray(value);
    // Parts of a list stand with it.
    return value !== undefined && isWhole && !/\.\d+(\.|$)/.test(path);
  });
  return paths.sort().map((path) => {
    const origin = origins.get(path) ?? { from: 'default' };
    return [path, { value: valueAt(values, path), origin: describeOrigin(origin) }];
  });
}
