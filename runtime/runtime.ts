/**
 * The runtime: what embedding code talks to, and where the pieces of a node meet.
 *
 * It hosts one place as long as it holds the place's lease. Everything it needs from the
 * world (time, chance, disk, network, leases) comes in as a port; `createRuntime` in the
 * package's root fills in the usual ones.
 */

import type { AnyStateMachine } from 'xstate';
import { checkName, wholeAddress } from './address.ts';
import { abortError } from './asks.ts';
import { messageOf, RuntimeError } from './errors.ts';
import { explain } from './explain.ts';
import { type ActorHandle, createHandle, type HandleHost, type SpawnOptions } from './handle.ts';
import { type HistoryRow, parseHistoryRow } from './history.ts';
import type { InspectionReader } from './inspection.ts';
import { Kind, type KindOptions } from './kind.ts';
import type { Metrics, MetricsSnapshot } from './metrics.ts';
import { Node } from './node.ts';
import type { NodePorts } from './node-ports.ts';
import type { Logger } from './options.ts';
import { type ActorQuery, type ActorRow, queryActors } from './query.ts';
import type { WaitingPlace } from './silence.ts';
import type { StorePage } from './store.ts';
import { checkTransport } from './transport.ts';
import type { KindOptionsOf } from './typed-kind.ts';
import { parseUndelivered, type Undelivered } from './undelivered.ts';

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

/** What `Runtime.watchOf` gives. */
export interface RuntimeWatch {
  readonly metrics: Metrics;
  readonly ended: AbortSignal;
  readonly logger: Logger;
}

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
  static async start(
    ports: NodePorts & { readonly signal?: AbortSignal | undefined },
  ): Promise<Runtime> {
    const { signal } = ports;
    checkName('node', ports.node);
    checkName('place', ports.place);
    checkTransport(ports.transport, ports.node, ports.place);
    if (signal?.aborted === true) throw abortError(signal);
    const runtime = new Runtime(new Node(ports));
    const aborted = (): void => {
      runtime.stop().catch((thrown: unknown) => {
        ports.logger.error({ error: messageOf(thrown) }, 'stopping failed');
      });
    };
    signal?.addEventListener('abort', aborted, { once: true });
    await runtime.#node.start();
    return runtime;
  }

  /** What handles talk to, for those who make handles that outlive a runtime. */
  static hostOf(runtime: Runtime<never>): HandleHost {
    return runtime.#node.calls;
  }

  /** For what watches a runtime from outside: its live numbers, its log, and a signal for its end. */
  static watchOf(runtime: Runtime<never>): RuntimeWatch {
    const { metrics, ending, ports } = runtime.#node;
    return { metrics, ended: ending.signal, logger: ports.logger };
  }

  /** True while this node hosts its place. */
  get isHosting(): boolean {
    return this.#node.shard.isHosting;
  }

  /**
   * Why the store refuses whatever this node commits, as on a full disk; undefined again once a commit has
   * succeeded, which it tries by itself, or once another node hosts the place.
   */
  get commitRefusal(): Error | undefined {
    return this.#node.hosting.refusal;
  }

  /** The number of the lease under which this node hosts its place: every later holder has a greater one. 0 while it does not host. */
  get fence(): number {
    const { isHosting, fence } = this.#node.shard;
    return isHosting ? fence : 0;
  }

  /**
   * Makes a machine known under a name. Returns the same runtime, typed with the kind.
   *
   * @throws {RuntimeError} KIND_EXISTS, OPTION_INVALID
   */
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
   * Gives birth to an actor and resolves with its handle once it is durable.
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
   * Actors of this place by what the index knows, in the order of their addresses, a page at a time.
   * As long as there is a cursor there may be more, however few came with it.
   */
  query(query: ActorQuery = {}): {
    readonly actors: readonly ActorRow[];
    readonly cursor?: string;
  } {
    return queryActors(
      (stored): StorePage => this.#node.ports.store.query(stored),
      query,
      this.#node.ports.clock.now(),
    );
  }

  /** The last turns of an actor of this place, oldest first. @throws {RuntimeError} OPTION_INVALID */
  history(address: string, options: { readonly limit?: number } = {}): readonly HistoryRow[] {
    const { limit = 100 } = options;
    if (!Number.isSafeInteger(limit) || limit < 1)
      throw new RuntimeError('OPTION_INVALID', `"limit" must be a positive integer, got ${limit}.`);
    const rows = this.#node.ports.store.history(wholeAddress(address, this.place), limit);
    return rows.map(parseHistoryRow);
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

  /**
   * Ends an actor, whatever its machine says: it takes nothing any more, and its children are stopped.
   * What it has sent is delivered, and its durable effects are carried out.
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
    return this.#node.delivery.waiting();
  }

  /**
   * Delivers an undelivered event once more, or tries an effect again; it leaves the list when it was
   * taken. One that fails again stands there anew, with the new error and a new id.
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

  /** Why an actor is where it is, in a screenful: state, deadlines, and what happened last. */
  async explain(address: string): Promise<string> {
    const whole = wholeAddress(address, this.place);
    return explain(
      whole,
      this.#node.shard.find(whole),
      this.history(whole, { limit: 20 }),
      this.#node.ports.clock.now(),
      (effectId) => this.#node.performers.retryOf(effectId),
    );
  }

  /** Reads the inspection stream until the returned function is called. */
  inspect(reader: InspectionReader): () => void {
    return this.#node.inspection.read(reader);
  }

  /** What is held now; after everything has ended all of it but `actors` is 0. */
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
