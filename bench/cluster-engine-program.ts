/**
 * The engine's side of the comparison: `node cluster-engine-program.js node DIRECTORY` hosts one
 * durable actor per job on LMDB, `… client URL` starts and completes them from another process.
 *
 * The client's calls are the ordinary ones, `spawn` and `send`: each resolves when the turn that took
 * it is on the node's disk. Deadlines are noticed in the node, by an action that is carried out once
 * the turn that ends the job is on disk. There is no bulk call; `bulk` is 1,024 calls at a time.
 */

import { setup } from 'xstate';
import { type ActorHandle, createRuntime, lmdbStore, type Runtime } from '../index.ts';
import { websocketTransport } from '../transports/websocket.ts';
import { closedLoop } from './closed-loop.ts';
import {
  type Batch,
  dueAtOf,
  indexes,
  isLeft,
  LateDeadlines,
  nameOf,
  timed,
} from './cluster-deadlines.ts';
import { SECRET } from './cluster-secret.ts';
import { say, serve } from './program-commands.ts';

const IN_FLIGHT = 1_024;
const NODE = 'engine';

interface DeadlineInput {
  readonly dueAt: number;
}

const deadlineMachine = setup({
  types: {
    context: {} as DeadlineInput & { readonly limitMs: number },
    events: {} as { readonly type: 'job.completed' },
    input: {} as DeadlineInput & { readonly at?: number },
  },
  actions: { noticeTimeout: (_, _params: DeadlineInput) => {} },
  delays: { limit: ({ context }) => context.limitMs },
}).createMachine({
  id: 'job',
  context: ({ input: { dueAt, at = Number.NaN } }) => ({ dueAt, limitMs: dueAt - at }),
  initial: 'running',
  states: {
    running: { after: { limit: 'timedOut' }, on: { 'job.completed': 'completed' } },
    completed: { type: 'final' },
    timedOut: {
      type: 'final',
      entry: { type: 'noticeTimeout', params: ({ context }) => ({ dueAt: context.dueAt }) },
    },
  },
});

type Jobs = Runtime<{ job: typeof deadlineMachine }>;

const [part, where = ''] = process.argv.slice(2);
await (part === 'node' ? node(where) : client(where));

async function node(directory: string): Promise<void> {
  const late = new LateDeadlines();
  const transport = websocketTransport({ node: NODE, listen: { port: 0 }, secret: SECRET });
  const runtime = await createRuntime({
    node: NODE,
    transport,
    store: lmdbStore(directory),
    // Started jobs are still in memory when they are completed, as they are in Redis.
    limits: { liveActorsMax: 20_000 },
  });
  const jobs = runtime.register('job', deadlineMachine, {
    perform: { noticeTimeout: ({ params }) => late.note((params as DeadlineInput).dueAt) },
  });
  serve({
    late: (count: number) => late.take(count),
    ended: () => ({ completed: count(jobs, 'completed'), timedOut: count(jobs, 'timedOut') }),
    end: () => runtime.stop(),
  });
  say({ url: transport.url });
}

/** Jobs in a state, as the node's index has them. */
function count(runtime: Jobs, state: string): number {
  let sum = 0;
  let cursor: string | undefined;
  do {
    const page = runtime.query({ kind: 'job', state, limit: 1_000, ...(cursor && { cursor }) });
    sum += page.actors.length;
    cursor = page.cursor;
  } while (cursor !== undefined);
  return sum;
}

async function client(url: string): Promise<void> {
  const transport = websocketTransport({ node: 'client', peers: [url], secret: SECRET });
  const runtime: Jobs = await createRuntime({
    node: 'client',
    transport,
    kinds: { job: deadlineMachine },
    limits: { outboxMax: 2 * IN_FLIGHT },
  });
  const handles = new Map<number, ActorHandle<typeof deadlineMachine>>();
  const inFlight = ({ how }: Batch): number => (how === 'single' ? 1 : IN_FLIGHT);
  serve({
    start(batch: Batch) {
      const all = indexes(batch);
      return timed(() =>
        closedLoop(all.length, inFlight(batch), async (place) => {
          const index = all[place] as number;
          const input = { dueAt: dueAtOf(index, batch) };
          handles.set(index, await runtime.spawn(`job/${nameOf(index)}@${NODE}`, { input }));
        }),
      );
    },
    async complete(batch: Batch) {
      const all = indexes(batch).filter((index) => !isLeft(index));
      const ms = await timed(() =>
        closedLoop(all.length, inFlight(batch), (place) => {
          const job = handles.get(all[place] as number);
          return (job as ActorHandle<typeof deadlineMachine>).send({ type: 'job.completed' });
        }),
      );
      handles.clear();
      return ms;
    },
    end: () => runtime.stop(),
  });
  // The first message waits until the node is connected.
  await runtime.spawn(`job/warm-up@${NODE}`, { input: { dueAt: Date.now() + 3_600_000 } });
  say({ connected: true });
}
