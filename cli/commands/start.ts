/**
 * `start gate|manager|worker|node`: one node of the jobs system, or of one's own kinds, as this process.
 *
 * It ends with the node: by the first signal in order, by the second at once, by what went wrong
 * with the code that says so. SIGHUP has it read its configuration again.
 */

import { Command } from 'commander';
import { failureOf } from '../exit.ts';
import {
  addNodeOptions,
  configurationOf,
  type NodeOptions,
  roleArgument,
} from '../node/command-options.ts';
import { refuseOpenDebugger, refuseUncheckedCertificates } from '../node/debugger.ts';
import type { Host } from '../node/host.ts';
import { openLog } from '../node/log.ts';
import type { NodeConfiguration } from '../node/resolve.ts';
import { runNode } from '../node/run.ts';
import type { Role } from '../node/settings.ts';
import { printableLines } from '../render/output.ts';
import type { Surroundings } from './commands.ts';

const HELP = `
Settings come from flags, then from the environment (ESCAPEMENT_NODE, ESCAPEMENT_JOBS_LEASE_MS, …),
then from the file, then from the defaults; "escapement config print" shows what they come to. The
secret that nodes share stands in ESCAPEMENT_SECRET or in the file that secretFile names.

Examples:
  $ escapement start manager --datacenter A --listen 127.0.0.1:7401 --gates gate
  $ escapement start gate --datacenters A --peer ws://127.0.0.1:7401
  $ escapement start worker --node A.worker-1 --datacenter A --peer ws://127.0.0.1:7401
  $ escapement start manager --config /etc/escapement/manager.yml
  $ escapement start node --kinds ./machines.js --node shop-1 --place shop --data ./data

A node runs the machines that the module exports: "kinds", an object of them by kind, each alone or as
{ machine, version, perform, … }; or machines by name; or one machine as default.

The first SIGTERM or SIGINT has the node bring to an end what it does, the second ends it at once;
SIGHUP has it read the level of its log and the tokens of its clients again. With --exit-with-parent
the end of standard input counts as the first signal: for supervisors that may be killed.

Exit codes: 0 ended in order, 1 the datacenter does not take the worker, 64 usage, 65 bad data,
69 port or platform not available, 70 internal error, 73 locked by another process, 74 I/O,
77 no permission, 78 bad configuration, 130 and 143 ended by a second SIGINT or SIGTERM.`;

interface StartOptions extends NodeOptions {
  readonly json?: boolean;
  readonly exitWithParent?: boolean;
}

export function startCommand({ output, setExitCode, host, input }: Surroundings): Command {
  const command = new Command('start').addArgument(roleArgument('<role>'));
  return addNodeOptions(command)
    .option('--json', 'the same as --log-format json')
    .option('--exit-with-parent', 'end in order when standard input ends')
    .addHelpText('after', HELP)
    .action(async (role: Role, options: StartOptions) => {
      const process = host as Host;
      refuseOpenDebugger(process);
      refuseUncheckedCertificates(process);
      const flags = options.json === true ? { ...options, logFormat: 'json' } : options;
      const read = (): NodeConfiguration => configurationOf(role, flags, process).configuration;
      const configuration = read();
      const log = openLog(configuration, process.stdout);
      for (const warning of configuration.warnings)
        log.logger.warn({ event: 'configuration.warning' }, warning);
      const parent = options.exitWithParent === true ? input : undefined;
      const failure = await runNode(configuration, { log, host: process, read, parent });
      const { exitCode, message } = failureOf(failure);
      log.logger.error({ event: 'node.failed', error: message, exitCode }, 'failed');
      log.flush();
      output.complain(`error: ${printableLines(message)}\n`);
      setExitCode(exitCode);
    });
}
