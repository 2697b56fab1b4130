/**
 * The four machines of a datacenter on the real engine and virtual time, with workers played by a test.
 *
 * A worker lives elsewhere: what it is told are hints that go nowhere here, so the test answers for it.
 */

import { type JobInput, jobMachine } from '../../../machines/jobs/job.ts';
import type { LogEvent } from '../../../machines/jobs/log-events.ts';
import { workerHealthMachine } from '../../../machines/jobs/worker-health.ts';
import { workerPoolMachine } from '../../../machines/jobs/worker-pool.ts';
import { workflowMachine } from '../../../machines/jobs/workflow.ts';
import { stateOf } from '../../../programs/jobs/manager/views.ts';
import {
  poolOptions,
  type Searcher,
  WORKFLOW_OPTIONS,
} from '../../../programs/jobs/manager/waiting.ts';
import { testRuntime } from '../../../simulator/testing.ts';
import { rules as jobRules } from './job-scenes.ts';
import { rules as healthRules } from './worker-health-scenes.ts';
import { rules as workflowRules } from './workflow-scenes.ts';

const kinds = {
  job: jobMachine,
  workflow: workflowMachine,
  'worker-health': workerHealthMachine,
  'worker-pool': workerPoolMachine,
};

type Sent = { readonly type: string; readonly [field: string]: unknown };
type Runtime = Awaited<ReturnType<typeof start>>;

async function start(notes: LogEvent[]) {
  const note = ({ params }: { readonly params: LogEvent }) => {
    notes.push(params);
  };
  const heard = { perform: { note } };
  let searcher: Searcher | undefined;
  const runtime = testRuntime({
    place: 'A',
    node: 'A.manager-1',
    kinds,
    options: {
      job: heard,
      workflow: { ...heard, ...WORKFLOW_OPTIONS },
      'worker-health': heard,
      'worker-pool': poolOptions(() => searcher as Searcher, note),
    },
  });
  const started = await runtime;
  searcher = { runtime: started.runtime, datacenter: 'A', clock: started.clock } as never;
  return started;
}

export async function openDatacenter(): Promise<Datacenter> {
  const notes: LogEvent[] = [];
  const runtime = await start(notes);
  const input = { datacenter: 'A', term: runtime.runtime.fence, rules: healthRules, queueMax: 256 };
  await runtime.spawn('worker-pool/main', { input });
  return new Datacenter(runtime, notes);
}

export class Datacenter {
  readonly runtime: Runtime;
  readonly notes: LogEvent[];
  readonly #startedAt: number;
  #heartbeats = 0;

  constructor(runtime: Runtime, notes: LogEvent[]) {
    this.runtime = runtime;
    this.notes = notes;
    this.#startedAt = runtime.now();
  }

  /** Lets time pass until this many seconds after the beginning. */
  async until(seconds: number): Promise<void> {
    await this.runtime.advance(this.#startedAt + seconds * 1_000 - this.runtime.now());
  }

  /** A job of workflows of 2 cores each; `dependsOn` by place. */
  async submit(jobId: string, ids: readonly string[], more: Partial<JobInput> = {}): Promise<void> {
    const { runtime } = this;
    const input: JobInput = {
      ...{ jobId, datacenter: 'A', managerId: 'A.manager-1', term: runtime.runtime.fence },
      ...{ gateId: null, digest: 'd', timeoutMs: 60_000, stuckThresholdMs: 120_000 },
      ...{
        failFast: false,
        enforce: true,
        targetDatacenters: ['A'],
        decisionEpoch: [0, 0],
      },
      rules: jobRules,
      ids,
      dependsOn: {},
      ...more,
    };
    await runtime.spawn(`job/${jobId}`, { input });
    for (const [index, workflowId] of ids.entries()) {
      const named = { jobId, workflowId, datacenter: 'A', index, handler: 'sleep', payload: 'p' };
      const workflow = { ...named, cores: 2, acceptedAt: runtime.now(), rules: workflowRules };
      await runtime.spawn(`workflow/${jobId}/${workflowId}`, { input: workflow });
    }
    await this.send(`job/${jobId}`, { type: 'job.assembled' });
  }

  async register(workerId: string, bootEpoch = 1): Promise<void> {
    const worker = { workerId, bootEpoch, coresTotal: 4, handlers: ['sleep'], attempts: [] };
    await this.send('worker-pool/main', {
      type: 'worker.registered',
      ...worker,
      page: 1,
      pages: 1,
    });
  }

  /** What the worker has, as `workflow#n` of `j1`. */
  async heartbeat(workerId: string, attempts: readonly string[], bootEpoch = 1): Promise<void> {
    this.#heartbeats += 1;
    const report = { jobId: 'j1', progress: 0, sinceProgressMs: 0, finished: false };
    await this.send(`worker-health/${workerId}`, {
      ...{ type: 'heartbeat.received', workerId, bootEpoch, term: this.runtime.runtime.fence },
      ...{ heartbeatSeq: this.#heartbeats, coresTotal: 4, coresFree: 4, page: 1, pages: 1 },
      attempts: attempts.map((attemptId) => ({ ...report, attemptId })),
    });
  }

  /** The worker of its slot takes the attempt. */
  async accept(workflowId: string): Promise<void> {
    const { workerId, run } = this.workflow(workflowId);
    await this.send(`workflow/j1/${workflowId}`, {
      ...{ type: 'dispatch.answered', workerId, bootEpoch: 1, jobId: 'j1' },
      ...{ attemptId: `${workflowId}#${run}`, accepted: true, reason: null, term: 1 },
      heartbeatSeq: this.#heartbeats,
    });
  }

  async finish(workflowId: string): Promise<void> {
    const { workerId, run } = this.workflow(workflowId);
    await this.send(`workflow/j1/${workflowId}`, {
      ...{ type: 'result.received', workerId, jobId: 'j1', attemptId: `${workflowId}#${run}` },
      ...{ ok: true, result: 'r', truncated: false, error: null, retryable: true },
    });
  }

  ask(workerId: string, operationId: string): Promise<unknown> {
    const asked = { type: 'extension.requested', requestId: 'r1', workerId, operationId } as const;
    const more = { reason: 'long_workflow', currentProgress: 0.1, activeWorkflowCount: 1 } as const;
    return this.runtime.actor(`worker-health/${workerId}`).ask({ ...asked, ...more });
  }

  workflow(workflowId: string) {
    const { value, context } = this.runtime.actor(`workflow/j1/${workflowId}`).getSnapshot();
    return { state: stateOf(value), run: context.run, workerId: context.slot?.workerId ?? null };
  }

  job(jobId = 'j1') {
    const { status, reason, endedAt, leaderFence } = this.runtime
      .actor(`job/${jobId}`)
      .getSnapshot().context;
    const endedS = endedAt === null ? null : Math.floor((endedAt - this.#startedAt) / 1_000);
    return { status, reason, endedS, leaderFence };
  }

  /** Cores that are reserved, by worker. */
  reserved(): Record<string, number> {
    const { workers } = this.runtime.actor('worker-pool/main').getSnapshot().context;
    return Object.fromEntries(
      Object.entries(workers).map(([workerId, { coresReserved }]) => [workerId, coresReserved]),
    );
  }

  /** As anybody who lives elsewhere; waits until everything that follows has happened. */
  async send(address: string, event: Sent): Promise<void> {
    await this.runtime.actor(address as `job/${string}`).send(event as never);
    await this.runtime.settle();
  }
}
