/**
 * `escapement/testing`: a runtime on virtual time, for anybody's unit tests.
 *
 * It is the real engine on a clock that moves only when told to, with seeded chance and
 * the memory store: same test, same run. `advance` stops at every deadline on the way, so
 * each fires at its own time. `crash` ends the node as a dying process would and starts
 * it again from its store; handles from before the crash go on working.
 */

import type { AnyStateMachine, Subscription } from 'xstate';
import { checkInstalledXState } from '../installed-xstate.ts';
import type { KindOptions } from '../runtime/actor.ts';
import type { KindOptionsOf } from '../runtime/api.ts';
import { type ActorHandle, createHandle, type HandleHost } from '../runtime/api.ts';
import { wholeAddress } from '../runtime/base/address.ts';
import { parseDuration } from '../runtime/base/duration.ts';
import { RuntimeError } from '../runtime/base/errors.ts';
import { type Logger, type RuntimeLimits, resolveLimits } from '../runtime/base/limits.ts';
import { noTransport } from '../runtime/delivery.ts';
import type { Lease } from '../runtime/ports/lease.ts';
import type { Store } from '../runtime/ports/store.ts';
import type { Transport } from '../runtime/ports/transport.ts';
import {
  type AddressOf,
  type KindMap,
  type MachineAt,
  Runtime,
  type SpawnArguments,
} from '../runtime/runtime.ts';
import { localLease } from '../runtime/system/local-lease.ts';
import { memoryStore } from '../stores/memory.ts';
import { recordTest, type TestRecording } from './test-failure.ts';
import { SimulatedClock } from './world/clock.ts';
import { SeededRandom } from './world/random.ts';
import { TEST_LOGGER } from './world/test-logger.ts';

export interface TestRuntimeOptions<TKinds extends KindMap = KindMap> {
  /** Machines by kind. */
  readonly kinds: TKinds;
  /** Performers, supervision and more, by kind. */
  readonly options?: { readonly [kind in keyof TKinds]?: KindOptionsOf<TKinds[kind]> };
  readonly node?: string;
  readonly place?: string;
  /** Seed of everything random. Default 1. */
  readonly seed?: number;
  readonly limits?: Partial<RuntimeLimits>;
  /** Give several test runtimes the same clock to let time pass for all of them. */
  readonly clock?: SimulatedClock;
  readonly store?: Store;
  /** Sets the node's links to others up again after each crash. */
  readonly transport?: () => Transport;
  readonly lease?: Lease;
  readonly logger?: Logger;
}

export interface WholeTestOptions<TKinds extends KindMap = KindMap>
  extends TestRuntimeOptions<TKinds> {
  /**
   * File for a page of the inspector when the test throws: every turn with its context, on the chart, without a
   * server. What is thrown names it.
   */
  readonly page?: string;
}

/** @throws {RuntimeError} OPTION_INVALID, KIND_EXISTS, XSTATE_UNSUPPORTED */
export function testRuntime<TKinds extends KindMap>(
  options: TestRuntimeOptions<TKinds>,
): Promise<TestRuntime<TKinds>>;
/** A whole test: the runtime is stopped behind it, however it ends. */
export function testRuntime<TKinds extends KindMap, TResult>(
  options: WholeTestOptions<TKinds>,
  test: (runtime: TestRuntime<TKinds>) => Promise<TResult> | TResult,
): Promise<TResult>;
export async function testRuntime<TKinds extends KindMap>(
  { page, ...options }: WholeTestOptions<TKinds>,
  test?: (runtime: TestRuntime<TKinds>) => unknown,
): Promise<unknown> {
  if (test === undefined) {
    if (page !== undefined) throw new RuntimeError('OPTION_INVALID', PAGE_NEEDS_TEST);
    const runtime = new TestRuntime<TKinds>(options);
    await runtime.start();
    return runtime;
  }
  const { clock = new SimulatedClock(), node = 'test', place = node, kinds } = options;
  const now = () => clock.now();
  const recording = page && (await recordTest({ page, node, place, kinds, now }));
  const runtime = new TestRuntime<TKinds>({ ...options, clock }, recording || undefined);
  await runtime.start();
  try {
    return await test(runtime);
  } catch (thrown) {
    throw recording ? await recording.failed(thrown, runtime.now()) : thrown;
  } finally {
    await runtime.stop();
  }
}

const PAGE_NEEDS_TEST =
  '"page" needs the test as a second argument: testRuntime(options, async (runtime) => { … }).';

export class TestRuntime<TKinds extends KindMap = KindMap> {
  readonly clock: SimulatedClock;
  readonly store: Store;
  readonly #options: TestRuntimeOptions<TKinds>;
  readonly #random: SeededRandom;
  readonly #lease: Lease;
  #current: Runtime<TKinds> | undefined;
  /** Renews what handles watch after a crash. */
  readonly #watches = new Set<() => void>();
  readonly #recording: TestRecording | undefined;

  /** `recording` hears what happens, for a page of a failure. */
  constructor(options: TestRuntimeOptions<TKinds>, recording?: TestRecording) {
    this.#options = options;
    this.#recording = recording;
    this.clock = options.clock ?? new SimulatedClock();
    const store = options.store ?? memoryStore();
    this.store = store;
    this.#random = new SeededRandom(options.seed ?? 1, options.node ?? 'test');
    this.#lease = options.lease ?? localLease();
  }

  /** The runtime under test; a new one after each crash. */
  get runtime(): Runtime<TKinds> {
    if (this.#current === undefined) throw new Error('The test runtime has not been started.');
    return this.#current;
  }

  async start(): Promise<void> {
    const { node = 'test', place = node, kinds, limits, logger = TEST_LOGGER } = this.#options;
    checkInstalledXState(logger);
    const runtime = await this.#during(
      Runtime.start({
        node,
        place,
        clock: this.clock,
        random: this.#random,
        store: this.store,
        transport: this.#options.transport?.() ?? noTransport(),
        lease: this.#lease,
        limits: resolveLimits(limits),
        logger,
        reportsEveryLoss: true,
        fatal: (failure) => {
          throw failure;
        },
      }),
    );
    this.#current = runtime as unknown as Runtime<TKinds>;
    this.#recording?.node('started', this.now());
    if (this.#recording !== undefined) runtime.inspect(this.#recording.read);
    for (const [name, machine] of Object.entries(kinds))
      runtime.register(name, machine, (this.#options.options?.[name] ?? {}) as KindOptions);
    for (const renew of this.#watches) renew();
    await this.settle();
  }

  /** As `runtime.spawn`; the handle survives crashes. */
  async spawn<TAddress extends AddressOf<TKinds>>(
    address: TAddress,
    ...options: SpawnArguments<MachineAt<TKinds, TAddress>>
  ): Promise<ActorHandle<MachineAt<TKinds, TAddress>>> {
    await this.#during(this.runtime.spawn(address, ...options));
    return this.actor(address);
  }

  actor<TAddress extends AddressOf<TKinds>>(
    address: TAddress,
  ): ActorHandle<MachineAt<TKinds, TAddress>> {
    const handle = createHandle(wholeAddress(address, this.runtime.place), this.#host);
    return handle as unknown as ActorHandle<MachineAt<TKinds, TAddress>>;
  }

  /** Lets time pass; every deadline on the way fires at its own time, in order. */
  async advance(duration: string | number): Promise<void> {
    const endsAt = this.clock.now() + parseDuration(duration);
    await this.settle();
    while (this.clock.step(endsAt)) await drain();
    this.clock.advanceTo(endsAt);
    await this.settle();
  }

  /** Lets everything happen that needs no time to pass. */
  async settle(): Promise<void> {
    do await drain();
    while (this.clock.runDue());
  }

  /** The process dies and comes back: what was not committed is gone. */
  async crash(): Promise<void> {
    this.runtime.crash();
    this.#recording?.node('crashed', this.now());
    await drain();
    await this.start();
  }

  /** Milliseconds since the epoch of the virtual clock. */
  now(): number {
    return this.clock.now();
  }

  /** State, deadlines and the last turns of an actor, as text. */
  explain(address: string): Promise<string> {
    return this.runtime.explain(address);
  }

  async stop(): Promise<void> {
    const stopping = this.runtime.stop();
    let isOver = false;
    void stopping.finally(() => {
      isOver = true;
    });
    // Draining waits on the clock, which nobody else moves.
    while (!isOver) await this.advance(1);
    await stopping;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** Whatever a call waits for, deferred tasks of the virtual clock included. */
  async #during<T>(call: Promise<T>): Promise<T> {
    void this.settle();
    return call;
  }

  /** Always the node of now. */
  readonly #host: HandleHost = {
    send: (...parts) => Runtime.hostOf(this.runtime as never).send(...parts),
    hint: (...parts) => Runtime.hostOf(this.runtime as never).hint(...parts),
    ask: (...parts) => Runtime.hostOf(this.runtime as never).ask(...parts),
    committed: (address) => Runtime.hostOf(this.runtime as never).committed(address),
    persisted: (address) => Runtime.hostOf(this.runtime as never).persisted(address),
    fetch: (...parts) => Runtime.hostOf(this.runtime as never).fetch(...parts),
    subscribe: (...parts) =>
      this.#watch(() => Runtime.hostOf(this.runtime as never).subscribe(...parts)),
    on: (...parts) => this.#watch(() => Runtime.hostOf(this.runtime as never).on(...parts)),
  };

  #watch(begin: () => Subscription): Subscription {
    let subscription = begin();
    const renew = (): void => {
      subscription = begin();
    };
    this.#watches.add(renew);
    return {
      unsubscribe: () => {
        this.#watches.delete(renew);
        subscription.unsubscribe();
      },
    };
  }
}

/** Captured before anybody fakes it: lets every promise that can settle do so. */
const { setImmediate: nextTurn } = globalThis;

function drain(): Promise<void> {
  return new Promise((resolve) => nextTurn(resolve));
}

export { parseDuration } from '../runtime/base/duration.ts';
export { SimulatedClock } from './world/clock.ts';
export { SeededRandom } from './world/random.ts';
export type { ActorHandle, AnyStateMachine };
