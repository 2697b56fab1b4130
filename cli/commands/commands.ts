/**
 * Commands of the program, in the order in which help lists them.
 *
 * A command is loaded when the command line names it: `version` does not wait for databases and
 * simulators. What help says of the others stands here.
 */

import type { Readable } from 'node:stream';
import { Command } from 'commander';
import type { ExitCode } from '../exit.ts';
import type { OpenStoredData } from '../loaders/stored-data.ts';
import type { Host } from '../node/host.ts';
import type { Output } from '../render/output.ts';

/** Surroundings: the parts of the world that a command may use. */
export interface Surroundings {
  readonly output: Output;
  readonly setExitCode: (code: ExitCode) => void;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The process itself, for commands that are one: `start`. */
  readonly host?: Host | undefined;
  /** Standard input; none where nobody can type. */
  readonly input?: Readable | undefined;
  /** Opens a data directory for `data`, which is offered only where there is something to open it with. */
  readonly openStoredData?: OpenStoredData | undefined;
}

interface Entry {
  readonly name: string;
  readonly group: string;
  readonly description: string;
  readonly load: (around: Surroundings) => Promise<Command>;
  /** Left out: everywhere. */
  readonly isOffered?: (around: Surroundings) => boolean;
}

const NODES = 'Nodes:';
const JOBS = 'Jobs:';
const RUNS = 'Map-reduce runs:';
const AGENTS = 'Agents:';
const ACTORS = 'Actors of any node:';
const MACHINES = 'Machines and data:';
const ABOUT = 'About:';

const ENTRIES: readonly Entry[] = [
  {
    name: 'start',
    group: NODES,
    description: 'Start a node: of the jobs system, or of your own kinds.',
    isOffered: ({ host }) => host !== undefined,
    load: async (around) => (await import('./start.ts')).startCommand(around),
  },
  {
    name: 'config',
    group: NODES,
    description: 'Check the configuration of a node, or print what it comes to.',
    isOffered: ({ host }) => host !== undefined,
    load: async (around) => (await import('./config.ts')).configCommand(around),
  },
  {
    name: 'demo',
    group: NODES,
    description: 'Run a cluster of real processes under load and faults, and watch it.',
    isOffered: ({ host }) => host !== undefined,
    load: async (around) => (await import('./demo.ts')).demoCommand(around),
  },
  {
    name: 'status',
    group: NODES,
    description: 'Say whether a node takes work, and how much waits there.',
    load: async (around) => (await import('./status.ts')).statusCommand(around),
  },
  {
    name: 'submit',
    group: JOBS,
    description: 'Hand a job to a gate or a datacenter, and watch it if you like.',
    load: async (around) => (await import('./submit.ts')).submitCommand(around),
  },
  {
    name: 'jobs',
    group: JOBS,
    description: 'List jobs: all, stuck ones, those that are due soon.',
    load: async (around) => (await import('./jobs.ts')).jobsCommand(around),
  },
  {
    name: 'show',
    group: JOBS,
    description: 'Show a job with its workflows and its deadline, or an actor.',
    load: async (around) => (await import('./show.ts')).showCommand(around),
  },
  {
    name: 'why',
    group: JOBS,
    description: 'Explain why a job or an actor ended, or what ends it next.',
    load: async (around) => (await import('./why.ts')).whyCommand(around),
  },
  {
    name: 'cancel',
    group: JOBS,
    description: 'End a job early.',
    load: async (around) => (await import('./cancel.ts')).cancelCommand(around),
  },
  {
    name: 'extend',
    group: JOBS,
    description: 'Give a job more time.',
    load: async (around) => (await import('./extend.ts')).extendCommand(around),
  },
  {
    name: 'workers',
    group: JOBS,
    description: 'List the workers and how they are.',
    load: async (around) => (await import('./workers.ts')).workersCommand(around),
  },
  {
    name: 'history',
    group: JOBS,
    description: 'Tell what happened to a job or an actor, turn by turn.',
    load: async (around) => (await import('./history.ts')).historyCommand(around),
  },
  {
    name: 'mapreduce',
    group: RUNS,
    description: 'Run commands for many items, bounded in time; look at such runs.',
    load: async (around) => (await import('./mapreduce.ts')).mapreduceCommand(around),
  },
  {
    name: 'dlq',
    group: RUNS,
    description: 'List items that have failed; try them again or drop them.',
    load: async (around) => (await import('./dlq.ts')).dlqCommand(around),
  },
  {
    name: 'timeouts',
    group: RUNS,
    description: 'Look at timers and timeouts of runs; give an attempt more time.',
    load: async (around) => (await import('./timeouts.ts')).timeoutsCommand(around),
  },
  {
    name: 'agents',
    group: AGENTS,
    description: 'Run a plan of tasks with agents; look at it, answer its questions.',
    load: async (around) => (await import('./agents.ts')).agentsCommand(around),
  },
  {
    name: 'actors',
    group: ACTORS,
    description: 'List the actors of a node, by kind, state or deadline.',
    load: async (around) => (await import('./actors.ts')).actorsCommand(around),
  },
  {
    name: 'spawn',
    group: ACTORS,
    description: 'Begin an actor.',
    load: async (around) => (await import('./spawn.ts')).spawnCommand(around),
  },
  {
    name: 'send',
    group: ACTORS,
    description: 'Send an actor an event.',
    load: async (around) => (await import('./send.ts')).sendCommand(around),
  },
  {
    name: 'revive',
    group: ACTORS,
    description: 'Make an actor that was stopped active again.',
    load: async (around) => (await import('./orders.ts')).orderCommand('revive', around),
  },
  {
    name: 'end',
    group: ACTORS,
    description: 'End an actor, whatever its machine says.',
    load: async (around) => (await import('./orders.ts')).orderCommand('end', around),
  },
  {
    name: 'forget',
    group: ACTORS,
    description: 'Forget what an actor that has ended knew.',
    load: async (around) => (await import('./orders.ts')).orderCommand('forget', around),
  },
  {
    name: 'undelivered',
    group: ACTORS,
    description: 'Look at messages that nobody could take; retry or drop them.',
    load: async (around) => (await import('./undelivered.ts')).undeliveredCommand(around),
  },
  {
    name: 'waiting',
    group: ACTORS,
    description: 'List the places that messages wait for and that do not answer.',
    load: async (around) => (await import('./waiting.ts')).waitingCommand(around),
  },
  {
    name: 'timers',
    group: ACTORS,
    description: 'List what is due, and when.',
    load: async (around) => (await import('./timers.ts')).timersCommand(around),
  },
  {
    name: 'simulate',
    group: MACHINES,
    description: 'Play scenarios, or clusters under faults from seeds, on simulated time.',
    load: async ({ output, setExitCode }) =>
      (await import('./simulate.ts')).simulateCommand(output, setExitCode),
  },
  {
    name: 'inspect',
    group: MACHINES,
    description: 'Open a data directory, a recording or a plan in the browser, or as one file.',
    load: async (around) => (await import('./inspect.ts')).inspectCommand(around),
  },
  {
    name: 'record',
    group: MACHINES,
    description: 'Record what happens at a node for a while, into a file.',
    load: async (around) => (await import('./record.ts')).recordCommand(around),
  },
  {
    name: 'diagram',
    group: MACHINES,
    description: 'Draw machines as SVG, Mermaid or DOT.',
    load: async ({ output }) => (await import('./diagram.ts')).diagramCommand(output),
  },
  {
    name: 'test',
    group: MACHINES,
    description: 'Make tests from a machine and play them; measure what they find.',
    load: async ({ output, setExitCode }) =>
      (await import('./test.ts')).testCommand(output, setExitCode),
  },
  {
    name: 'lint',
    group: MACHINES,
    description: 'Say what is wrong with a machine and its time, without running it.',
    load: async ({ output, setExitCode }) =>
      (await import('./lint.ts')).lintCommand(output, setExitCode),
  },
  {
    name: 'check-upgrade',
    group: MACHINES,
    description: 'Rehearse changed machines against stored records, without touching them.',
    load: async ({ output, setExitCode }) =>
      (await import('./check-upgrade.ts')).checkUpgradeCommand(output, setExitCode),
  },
  {
    name: 'data',
    group: MACHINES,
    description: 'Look at a data directory, check it, make it smaller.',
    isOffered: ({ openStoredData }) => openStoredData !== undefined,
    load: async ({ output, setExitCode, openStoredData }) =>
      (await import('./data-commands.ts')).dataCommand(
        output,
        setExitCode,
        openStoredData as OpenStoredData,
      ),
  },
  {
    name: 'completion',
    group: ABOUT,
    description: 'Print a script that completes commands in bash, zsh or fish.',
    load: async (around) =>
      (await import('./completion.ts')).completionCommand(around.output, () => allCommands(around)),
  },
  {
    name: 'version',
    group: ABOUT,
    description: 'Print the versions of this release, of what it runs on, and of its formats.',
    load: async ({ output }) => (await import('../version.ts')).versionCommand(output),
  },
];

/** Those that the arguments name, whole; of the others their name and what they are for. */
export async function commandsFor(
  args: readonly string[],
  around: Surroundings,
): Promise<readonly Command[]> {
  return commandsWhere((name) => args.includes(name), around);
}

/** All of them, whole. */
function allCommands(around: Surroundings): Promise<readonly Command[]> {
  return commandsWhere(() => true, around);
}

async function commandsWhere(
  isWanted: (name: string) => boolean,
  around: Surroundings,
): Promise<readonly Command[]> {
  const commands: Command[] = [];
  for (const { name, group, description, load, isOffered } of ENTRIES) {
    if (isOffered?.(around) === false) continue;
    const command = isWanted(name) ? await load(around) : new Command(name);
    commands.push(command.description(description).helpGroup(group));
  }
  return commands;
}
