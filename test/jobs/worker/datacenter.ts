/**
 * A datacenter that stands in for the real one: it notes what a worker says, and says what the test
 * wants it to.
 *
 * Registrations, heartbeats and extensions are answered as long as `answers` says so. All nodes
 * are on one clock, which moves only when the test moves it.
 */

import { setup } from 'xstate';
import type { ExtensionAnswer } from '../../../machines/jobs/messages/worker.ts';
import {
  type JobWorker,
  type JobWorkerOptions,
  startWorker,
} from '../../../programs/jobs/worker.ts';
import { type TestRuntime, testRuntime } from '../../../simulator/testing.ts';
import { SimulatedClock } from '../../../simulator/world/clock.ts';
import { SeededRandom } from '../../../simulator/world/random.ts';
import { inProcessNetwork } from '../../../transports/in-process.ts';

export interface Heard {
  /** Milliseconds since the worker was started. */
  readonly atMs: number;
  readonly to: string;
  readonly event: { readonly type: string; readonly [field: string]: unknown };
}

type Anything = { readonly type: string; readonly [field: string]: unknown };

const listener = (id: string, types: readonly string[]) =>
  setup({
    types: { events: {} as Anything },
    actions: { hear: (_, _params: Anything) => {} },
  }).createMachine({
    id,
    initial: 'here',
    states: { here: {}, gone: { type: 'final' } },
    on: {
      ...(Object.fromEntries(
        types.map((type) => [
          type,
          { actions: { type: 'hear', params: ({ event }: { event: Anything }) => event } },
        ]),
      ) as object),
      forgotten: '.gone',
    } as never,
  });

const kinds = {
  'worker-pool': listener('worker-pool', ['worker.registered']),
  'worker-health': listener('worker-health', [
    'heartbeat.received',
    'announce.answered',
    'extension.requested',
  ]),
  workflow: listener('workflow', [
    'dispatch.answered',
    'progress.received',
    'result.received',
    'cancel.answered',
    'attempt.stopped',
  ]),
};

export const WORKER = 'A.worker-1';
const MANAGER = 'A.manager-1';

export class Datacenter {
  readonly heard: Heard[] = [];
  /** Which messages are answered by themselves. */
  readonly answers = new Set(['worker.registered', 'heartbeat.received', 'extension.requested']);
  term = 3;
  readonly #network = inProcessNetwork();
  readonly clock = new SimulatedClock();
  #rt!: TestRuntime;
  #worker: JobWorker | undefined;
  #startedAt = this.clock.now();

  get rt(): TestRuntime {
    return this.#rt;
  }

  get worker(): JobWorker {
    if (this.#worker === undefined) throw new Error('No worker has been started.');
    return this.#worker;
  }

  async start(): Promise<this> {
    const perform = { hear: (call: HearCall) => this.#hear(call) };
    const options = Object.fromEntries(Object.keys(kinds).map((kind) => [kind, { perform }]));
    this.#rt = (await testRuntime({
      kinds,
      options,
      node: MANAGER,
      place: 'A',
      clock: this.clock,
      transport: () => this.#network.join(MANAGER),
    } as never)) as unknown as TestRuntime;
    await this.#rt.spawn('worker-pool/main');
    await this.#rt.spawn(`worker-health/${WORKER}`);
    return this;
  }

  async startWorker(options: Partial<JobWorkerOptions> = {}): Promise<JobWorker> {
    const starting = startWorker({
      worker: WORKER,
      datacenter: 'A',
      cores: 4,
      transport: this.#network.join(WORKER),
      clock: this.clock,
      random: new SeededRandom(1, WORKER),
      ...options,
    });
    this.#startedAt = this.clock.now();
    this.#worker = await this.during(starting);
    await this.#rt.advance(200);
    return this.#worker;
  }

  /** Lets time pass until a promise has settled. */
  async during<T>(promise: Promise<T>, limitMs = 120_000): Promise<T> {
    let isOver = false;
    const end = (): void => {
      isOver = true;
    };
    promise.then(end, end);
    const endsAt = this.clock.now() + limitMs;
    await this.#rt.settle();
    while (!isOver && this.clock.now() < endsAt) await this.#rt.advance(1);
    if (!isOver) throw new Error(`It did not happen within ${limitMs} ms.`);
    return promise;
  }

  /** What was heard of one type, in the order it came. */
  of(type: string): Heard[] {
    return this.heard.filter(({ event }) => event.type === type);
  }

  /** Says something to the worker's actor, as an actor of the datacenter would. */
  async say(event: Anything): Promise<void> {
    this.#rt.runtime.actor(this.#workerAddress()).hint(event as never);
    await this.#rt.settle();
  }

  async dispatch(workflowId: string, more: object = {}): Promise<void> {
    await this.#rt.spawn(`workflow/j1/${workflowId}`, { ifAbsent: true });
    await this.say({
      type: 'dispatch.requested',
      jobId: 'j1',
      attemptId: `${workflowId}#1`,
      datacenter: 'A',
      term: this.term,
      handler: 'work',
      payload: '',
      cores: 1,
      ...more,
    });
  }

  cancel(workflowId: string): Promise<void> {
    return this.say({
      type: 'cancel.ordered',
      jobId: 'j1',
      attemptId: `${workflowId}#1`,
      datacenter: 'A',
      term: this.term,
      cause: 'cancelled',
    });
  }

  /** From now on extensions are refused: the datacenter knows the worker no more. */
  async forgetWorker(): Promise<void> {
    this.#rt.runtime.actor(`worker-health/${WORKER}`).hint({ type: 'forgotten' } as never);
    await this.#rt.settle();
  }

  cut(): void {
    this.#network.cut(MANAGER, WORKER);
  }

  heal(): void {
    this.#network.heal(MANAGER, WORKER);
  }

  /** Somebody who is not of the datacenter, and what they say to actors of the worker. */
  async stranger(): Promise<(address: string, event: Anything) => Promise<void>> {
    const rt = await testRuntime({
      kinds: {},
      node: 'B.manager-1',
      place: 'B',
      clock: this.clock,
      transport: () => this.#network.join('B.manager-1'),
    });
    await this.#rt.settle();
    return async (address, event) => {
      const refused = await this.during(
        rt.runtime
          .actor(`${address}@${WORKER}`)
          .send(event)
          .catch((thrown: unknown) => (thrown as { code?: string }).code),
      );
      if (refused !== 'SENDER_REFUSED') throw new Error(`${address} was not closed: ${refused}`);
    };
  }

  /** Another manager of the datacenter, which stands by. */
  async standby(): Promise<TestRuntime> {
    const node = 'A.manager-2';
    const transport = () => this.#network.join(node);
    return testRuntime({ kinds: {}, node, place: node, clock: this.clock, transport });
  }

  /** True until the report of the attempt was taken, or is not wanted. */
  hasAttempt(workflowId: string): boolean {
    return Object.hasOwn(this.held(), `j1/${workflowId}#1`);
  }

  /** What the worker holds. */
  held(): object {
    return this.worker.runtime.actor(this.#workerAddress()).getSnapshot().context.attempts.toJSON();
  }

  #workerAddress(): `worker/${string}` {
    return `worker/${this.worker.bootEpoch}@${WORKER}`;
  }

  #hear({ address, params, reply }: HearCall): void {
    const { at, ...event } = params;
    this.heard.push({ atMs: (at as number) - this.#startedAt, to: address, event });
    if (!this.answers.has(event.type)) return;
    if (event.type === 'extension.requested') reply(event['replyTo'] as string, granted(event));
    else this.#answer(event);
  }

  #answer(event: Anything): void {
    const { term } = this;
    const to = `worker/${event['bootEpoch']}@${WORKER}` as const;
    const hint = (answer: Anything): void => this.#rt.runtime.actor(to).hint(answer as never);
    if (event.type === 'worker.registered')
      hint({
        type: 'register.answered',
        workerId: WORKER,
        bootEpoch: event['bootEpoch'],
        accepted: true,
        reason: null,
        term,
        deadlineInMs: 30_000,
        stopAttempts: [],
      });
    if (event.type === 'heartbeat.received')
      hint({
        type: 'heartbeat.acked',
        workerId: WORKER,
        term,
        heartbeatSeq: event['heartbeatSeq'],
        registerAgain: false,
        stopAttempts: [],
      });
  }
}

const granted = ({ requestId }: Anything): ExtensionAnswer => ({
  requestId: requestId as string,
  granted: true,
  extensionMs: 30_000,
  deadlineInMs: 60_000,
  remainingExtensions: 4,
  denialReason: null,
  exhaustionWarning: false,
});

type HearCall = Pick<PerformerCallOf, 'address' | 'reply'> & { readonly params: Anything };
interface PerformerCallOf {
  readonly address: string;
  reply(replyTo: string | undefined, value: unknown): void;
}

export async function datacenter(options?: Partial<JobWorkerOptions>): Promise<Datacenter> {
  const started = await new Datacenter().start();
  await started.startWorker(options);
  return started;
}
