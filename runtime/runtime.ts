/**
 * The runtime: what embedding code talks to, and where the pieces of a node meet.
 *
 * It hosts one place as long as it holds the place's lease. Everything it needs from the
 * world (time, chance, disk, network, leases) comes in as a port; `createRuntime` in the
 * package's root fills in the usual ones.
 */

import type { AnyStateMachine } from 'xstate';
import type { HistoryRow } from './actor.ts';
import { Kind, type KindOptions, parseUndelivered, type Undelivered } from './actor.ts';
import type { HistoryOptions, KindOptionsOf, StartPorts, Waits } from './api.ts';
import {
  type ActorHandle,
  type ActorPage,
  type ActorQuery,
  createHandle,
  type HandleHost,
  Node,
  queryActors,
  type RuntimeWatch,
  type SpawnOptions,
  watchOf,
} from './api.ts';
import { checkName, wholeAddress } from './base/address.ts';
import { messageOf, RuntimeError } from './base/errors.ts';
import type { InspectionConcern, InspectionReader } from './base/inspection.ts';
import type { MetricsSnapshot } from './base/metrics.ts';
import type { WaitingPlace } from './delivery.ts';
import { type AskOptions, abortError } from './delivery.ts';
import { checkTransport } from './ports/transport.ts';

export type KindMap = Record<string, AnyStateMachine>;

/** The machine behind an address, as far as the kinds known to the compiler say. */
export type MachineAt<TKinds extends KindMap, TAddress extends string> = keyof TKinds extends never
  ? AnyStateMachine
  : TAddress extends `${infer TKind}/${string}`
    ? TKind extends keyof TKinds
      ? TKinds[TKind]
      : never
    : AnyStateMachine;

/** Addresses of the kinds known to the compiler; any text when none is. */
export type AddressOf<TKinds extends KindMap> = keyof TKinds extends never
  ? string
  : `${keyof TKinds & string}/${string}`;

/** Options may be left out where nothing in them is required. */
export type SpawnArguments<TMachine extends AnyStateMachine> =
  Record<never, never> extends SpawnOptions<TMachine>
    ? [options?: SpawnOptions<TMachine>]
    : [options: SpawnOptions<TMachine>];

// biome-ignore lint/complexity/noBannedTypes: no kinds known to the compiler.
export class Runtime<TKinds extends KindMap = {}> {
  readonly node: string;
  readonly place: string;
  readonly #node: Node;

  private constructor(node: Node) {
    this.#node = node;
    this.node = node.ports.node;
    this.place = node.ports.place;
  }

  /** Starts a node. Resolves when it hosts its place, or waits for the lease as a standby. */
  static async start(ports: StartPorts<Runtime>): Promise<Runtime> {
    const { signal, prepare } = ports;
    checkName('node', ports.node);
    checkName('place', ports.place);
    checkTransport(ports.transport, ports.node, ports.place);
    if (signal?.aborted === true) throw abortError(signal);
    const runtime = new Runtime(new Node(ports));
    const failed = (thrown: unknown): void =>
      ports.logger.error({ error: messageOf(thrown) }, 'stopping failed');
    const aborted = (): void => void runtime.stop().catch(failed);
    try {
      prepare?.(runtime);
    } catch (thrown) {
      await runtime.stop();
      throw thrown;
    }
    signal?.addEventListener('abort', aborted, { once: true });
    await runtime.#node.start();
    return runtime;
  }

  /** Host that handles talk to, for code that makes handles that outlive a runtime. */
  static hostOf(runtime: Runtime<never>): HandleHost {
    return runtime.#node.calls;
  }

  /**
   * View for code that watches a runtime from outside: its live numbers, its log, and a signal for its
   * end.
   */
  static watchOf(runtime: Runtime<never>): RuntimeWatch {
    return watchOf(runtime.#node);
  }

  /** True while this node hosts its place. */
  get isHosting(): boolean {
    return this.#node.shard.isHosting;
  }

  /**
   * Reason why the store refuses every commit of this node, as on a full disk; undefined again once a commit
   * has succeeded, which it tries by itself, or once another node hosts the place.
   */
  get commitRefusal(): Error | undefined {
    return this.#node.hosting.refusal;
  }

  /** The number of the lease under which this node hosts its place: every later holder has a greater one. 0 while it does not host. */
  get fence(): number {
    const { isHosting, fence } = this.#node.shard;
    return isHosting ? fence : 0;
  }

  /** Lateness of deadlines: the latest of the last seconds, or one that still waits. */
  get latenessMs(): number {
    return this.#node.shard.latenessMs;
  }

  /** Makes a machine known under a name. Returns the same runtime, typed with the kind. @throws {RuntimeError} KIND_EXISTS, OPTION_INVALID */
  register<TName extends string, TMachine extends AnyStateMachine>(
    name: TName,
    machine: TMachine,
    options: KindOptionsOf<TMachine> = {},
  ): Runtime<TKinds & { [name in TName]: TMachine }> {
    const { calls, shard, ports } = this.#node;
    const kind = new Kind(name, machine, options as KindOptions, ports.limits);
    kind.toMember = (...sent) => calls.toMember(...sent);
    shard.register(kind);
    return this as unknown as Runtime<TKinds & { [name in TName]: TMachine }>;
  }

  /**
   * Spawns an actor and resolves with its handle once it is durable.
   *
   * @throws {RuntimeError} ACTOR_EXISTS, BIRTH_FAILED, KIND_UNKNOWN, ADDRESS_MALFORMED and more, see docs/errors.md
   */
  async spawn<TAddress extends AddressOf<TKinds>>(
    address: TAddress,
    ...[options]: SpawnArguments<MachineAt<TKinds, TAddress>>
  ): Promise<ActorHandle<MachineAt<TKinds, TAddress>>> {
    const { input, ifAbsent, signal } = (options ?? {}) as {
      input?: unknown;
      ifAbsent?: boolean;
      signal?: AbortSignal;
    };
    if (signal?.aborted === true) throw abortError(signal);
    const whole = wholeAddress(address, this.place);
    await this.#node.calls.spawn(whole, input, ifAbsent !== true);
    return createHandle(whole, this.#node.calls) as ActorHandle<MachineAt<TKinds, TAddress>>;
  }

  /** A handle for an address, whether there is an actor or not. @throws {RuntimeError} ADDRESS_MALFORMED */
  actor<TAddress extends AddressOf<TKinds>>(
    address: TAddress,
  ): ActorHandle<MachineAt<TKinds, TAddress>> {
    return createHandle(wholeAddress(address, this.place), this.#node.calls) as ActorHandle<
      MachineAt<TKinds, TAddress>
    >;
  }

  /**
   * Actors of this place by what they are and wait for, in the order of their addresses or their next
   * deadlines, a page at a time. As long as there is a cursor there may be more, however few came with it.
   *
   * @throws {RuntimeError} OPTION_INVALID, NOT_HOSTED
   */
  query(query: ActorQuery = {}): ActorPage {
    const { shard, ports, messaging } = this.#node;
    return queryActors({ ...ports, shard, routes: messaging.routes }, query);
  }

  /** The last turns of an actor of this place, oldest first. @throws {RuntimeError} OPTION_INVALID, NOT_HOSTED: use `fetchHistory` */
  history(address: string, options: { readonly limit?: number } = {}): readonly HistoryRow[] {
    return this.#node.reads.history(wholeAddress(address, this.place), options.limit);
  }

  /** The same, also from another node. @throws {RuntimeError} OPTION_INVALID, ASK_LOST, ASK_TIMED_OUT, NOT_HOSTED */
  async fetchHistory(address: string, options?: HistoryOptions): Promise<readonly HistoryRow[]> {
    return this.#node.reads.fetchHistory(wholeAddress(address, this.place), options);
  }

  /**
   * Makes an actor that was stopped active again, in the state in which it was stopped: its deadlines
   * count on, and those that have come meanwhile come at once; its children are run.
   *
   * @throws {RuntimeError} ACTOR_UNKNOWN, ACTOR_ACTIVE, ACTOR_ENDED of one that came to its own end, NOT_HOSTED
   */
  revive(address: string): Promise<void> {
    return this.#node.calls.order(wholeAddress(address, this.place), 'revive');
  }

  /** Arms deadlines that an active actor's states wait for and a fault has lost. @throws {RuntimeError} as `end` */
  rearm(address: string): Promise<void> {
    return this.#node.calls.order(wholeAddress(address, this.place), 'rearm');
  }

  /**
   * Ends an actor without asking its machine: it takes nothing any more, and its children are stopped. What
   * it has sent is delivered, and its durable effects are carried out.
   *
   * @throws {RuntimeError} ACTOR_UNKNOWN, ACTOR_ENDED, NOT_HOSTED
   */
  end(address: string): Promise<void> {
    return this.#node.calls.order(wholeAddress(address, this.place), 'end');
  }

  /**
   * Forgets the state and the input of an ended actor now, and not after `endedRetentionMs`. Of one that has
   * sent or taken messages of actors their numbers and the history stay until then, so that none counts twice.
   *
   * @throws {RuntimeError} ACTOR_UNKNOWN, ACTOR_ACTIVE, NOT_HOSTED
   */
  forget(address: string): Promise<void> {
    return this.#node.calls.order(wholeAddress(address, this.place), 'forget');
  }

  /** Events that nobody could take, oldest first. */
  undelivered(): readonly Undelivered[] {
    return [...this.#node.ports.store.undelivered()].map(([, row]) => parseUndelivered(row));
  }

  /** The places from which nobody answers now, and how many messages of this node wait for each. */
  waiting(): readonly WaitingPlace[] {
    return this.#node.messaging.delivery.waiting();
  }

  /**
   * Delivers an undelivered event once more, or tries an effect again; one that fails again stands there
   * again.
   */
  async retryUndelivered(id: string): Promise<void> {
    const found = this.undelivered().find((undelivered) => undelivered.id === id);
    if (found === undefined)
      throw new RuntimeError('ACTOR_UNKNOWN', `There is no undelivered message ${id}.`);
    try {
      if (found.effect === undefined) await this.#node.calls.redeliver(found);
      else this.#node.retryEffect(found.to, found.effect);
    } catch (thrown) {
      if (thrown instanceof RuntimeError && thrown.code === 'TURN_FAILED')
        await this.dropUndelivered(id);
      throw thrown;
    }
    await this.dropUndelivered(id);
  }

  /** Takes an undelivered event off the list. */
  dropUndelivered(id: string): Promise<void> {
    return this.#node.shard.dropUndelivered(id);
  }

  /**
   * Explains why an actor is where it is, also one of another node: state and what can end it, deadlines,
   * children, what waits for it and what it waits for, and what happened last.
   * @throws {RuntimeError} ASK_LOST, ASK_TIMED_OUT, NOT_HOSTED when its node is away
   */
  async explain(address: string, options: AskOptions = {}): Promise<string> {
    return this.#node.reads.explain(wholeAddress(address, this.place), options);
  }

  /** The state of an actor of this node and the names of its deadlines. @throws {RuntimeError} NOT_HOSTED */
  waits(address: string): Waits | undefined {
    return this.#node.reads.waits(wholeAddress(address, this.place));
  }

  /** Reads the inspection stream until the returned function is called; with `concern` of these actors alone. */
  inspect(reader: InspectionReader, concern?: InspectionConcern): () => void {
    return this.#node.inspection.read(reader, concern);
  }

  /** Counts of what is held now; after everything has ended all of them but `actors` are 0. */
  counts(): ReturnType<Node['counts']> {
    return this.#node.counts();
  }

  /** The numbers of this node since it started, for machines: plain data, a new object each time. */
  metrics(): MetricsSnapshot {
    return this.#node.snapshot();
  }

  /** Stops taking new events, finishes what waits, commits, and closes. Idempotent. */
  stop(): Promise<void> {
    return this.#node.stop();
  }

  /** Ends at once, as if the process had died: nothing is finished, nothing uncommitted leaves. For tests. */
  crash(): void {
    this.#node.crash();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}
