/**
 * Jobs that run in two datacenters under one gate: one is done, one asks for more time, and one
 * gets nowhere in one of the two and is ended in both.
 *
 * Shows: `startGate`, `startManager`, `startWorker` and `connectClient`, a handler that reports
 * progress and asks for an extension, and what the machines log about it. All programs are in one
 * process and time is virtual; with the system's clock, a transport between processes and a store on
 * disk the same programs are a real system.
 *
 *   npx tsx examples/jobs.ts
 */

import {
  connectClient,
  type Handler,
  type JobView,
  type LogEvent,
  startGate,
  startManager,
  startWorker,
} from '../programs/jobs/index.ts';
import { SimulatedClock } from '../simulator/testing.ts';
import { inProcessNetwork } from '../transports/index.ts';

/** The payload: how many steps a training takes, one a second, and what is special about it. */
interface Training {
  readonly steps: number;
  /** The step at which it asks for more time. */
  readonly asksAt?: number;
  /** The last step that it gets done, by datacenter. */
  readonly stallsAt?: Readonly<Record<string, number>>;
}

const DATACENTERS = ['A', 'B'];

export async function main(print: (line: string) => void = console.log): Promise<void> {
  const clock = new SimulatedClock();
  const network = inProcessNetwork();
  const time = turn(clock);
  let zero = clock.now();
  const listener = (node: string) => (note: LogEvent) => {
    const line = lineOf(note);
    if (line !== undefined) print(`${timeOf(clock.now() - zero)}  ${node.padEnd(12)}${line}`);
  };
  const ports = (node: string) => ({
    clock,
    transport: network.join(node),
    onNote: listener(node),
  });

  const gate = await startGate({ gate: 'gate', datacenters: DATACENTERS, ...ports('gate') });
  const others = [];
  for (const datacenter of DATACENTERS) {
    const [manager, worker] = [`${datacenter}.manager-1`, `${datacenter}.worker-1`];
    const handlers = { train: trainer(clock, datacenter) };
    others.push(
      await startManager({ datacenter, manager, gates: ['gate'], ...ports(manager) }),
      await startWorker({ worker, datacenter, cores: 4, handlers, ...ports(worker) }),
    );
  }
  const client = await connectClient({ client: 'laptop', to: 'gate', ...ports('laptop') });
  const run = async (jobId: string, training: Training): Promise<void> => {
    zero = clock.now();
    print(`${jobId}: ${training.steps} steps within 60 seconds`);
    const workflows = [{ id: 'training', handler: 'train', payload: JSON.stringify(training) }];
    await client.submit({ jobId, timeoutMs: 60_000, stuckThresholdMs: 20_000, workflows });
    const job = await client.wait(jobId);
    print(`${timeOf(clock.now() - zero)}  laptop      ${outcomeOf(job)}`);
  };

  time.letGo();
  await run('short', { steps: 30 });
  await run('long', { steps: 80, asksAt: 50 });
  await run('stuck', { steps: 30, stallsAt: { B: 5 } });
  for (const program of [client, ...others, gate]) await program.stop();
  time.stop();
}

function trainer(clock: SimulatedClock, datacenter: string): Handler {
  return async ({ payload, signal, progress, extend }) => {
    const { steps, asksAt, stallsAt = {} } = JSON.parse(payload) as Training;
    const { [datacenter]: last = steps } = stallsAt;
    let step = 0;
    while (step < steps) {
      await second(clock);
      signal.throwIfAborted();
      if (step === last) continue; // It goes on working and gets nowhere.
      step += 1;
      progress({ completedItems: step, totalItems: steps });
      if (step === asksAt) await extend({ estimatedRemainingMs: (steps - step) * 1_000 });
    }
    return `${steps} steps`;
  };
}

/** What is told of a log event, for the few that are. */
function lineOf(note: LogEvent): string | undefined {
  switch (note.event) {
    case 'extension.granted':
      return `${note.event}  ${note.extensionMs} ms`;
    case 'timeout.detected':
      return `${note.event}  ${note.reason}: ${note.sinceProgressMs} ms without progress`;
    case 'timeout.declared':
    case 'timeout.obeyed':
      return `${note.event}  ${note.reason}`;
    case 'job.ended':
      return `${note.event}  ${note.status}${note.reason === null ? '' : `, ${note.reason}`}`;
    default:
      return undefined;
  }
}

function outcomeOf({ status, reason, extensionsMs, workflows }: JobView): string {
  const results = workflows.map(({ result }) => result ?? 'no result').join(', ');
  return `${status}, ${reason ?? results}, ${extensionsMs} ms added`;
}

const timeOf = (ms: number): string => `${(ms / 1_000).toFixed(3).padStart(8)} s`;

const second = (clock: SimulatedClock): Promise<void> =>
  new Promise((resolve) => void clock.schedule(clock.now() + 1_000, resolve));

/** Runs what is due, and lets time pass as fast as everybody can follow once it is let go. */
function turn(clock: SimulatedClock): { letGo(): void; stop(): void } {
  let until = clock.now();
  let isOver = false;
  void (async () => {
    for (; !isOver; await new Promise((resolve) => setImmediate(resolve))) clock.step(until);
  })();
  return {
    letGo: () => {
      until = Number.POSITIVE_INFINITY;
    },
    stop: () => {
      isOver = true;
    },
  };
}

if (process.argv[1] === import.meta.filename) await main();
