/**
 * Nodes on real LMDB directories that die and come back, under one virtual time.
 *
 * The disk takes real time, the clock does not: letting things happen means to wait until
 * nothing is due and nothing is with a disk. A node that comes back is a new process as far as
 * one process can show it: a new runtime, a new store on the same directory, a new lease,
 * a new seed. What was in memory is gone, what a dying runtime waited for is never heard of.
 */

import { rmSync } from 'node:fs';
import { onTestFinished } from 'vitest';
import type { AnyStateMachine } from 'xstate';
import type { Lease } from '../../runtime/ports/lease.ts';
import type { KindMap } from '../../runtime/runtime.ts';
import { localLease } from '../../runtime/system/local-lease.ts';
import { parseDuration, SimulatedClock, TestRuntime } from '../../simulator/testing.ts';
import { LossyNetwork } from '../delivery/lossy-network.ts';
import { type Death, RecoveryStore, recoveryDirectory } from './recovery-store.ts';

type Settings<TKinds extends KindMap> = ConstructorParameters<typeof TestRuntime<TKinds>>[0];

export interface NodeSettings<TKinds extends KindMap>
  extends Pick<Settings<TKinds>, 'kinds' | 'options' | 'limits' | 'place' | 'logger'> {
  readonly node?: string;
  /** Made again for each life. Default: the place is this process's alone. */
  readonly lease?: (directory: string) => Lease;
}

export class RecoveryNodes {
  readonly clock = new SimulatedClock();
  readonly network = new LossyNetwork(this.clock, 1);
  readonly #nodes: RecoveryNode<KindMap>[] = [];

  async start<TKinds extends KindMap>(
    settings: NodeSettings<TKinds>,
  ): Promise<RecoveryNode<TKinds>> {
    const node = new RecoveryNode(this, settings);
    this.#nodes.push(node as unknown as RecoveryNode<KindMap>);
    await node.comeBack();
    return node;
  }

  /** Lets everything happen that needs no time to pass. */
  async settle(): Promise<void> {
    let quiet = 0;
    // Twice: what a disk has settled begins something new a moment later.
    while (quiet < 2) {
      await nextTick();
      const isBusy = this.clock.runDue() || this.#nodes.some(({ store }) => store.underWay > 0);
      quiet = isBusy ? 0 : quiet + 1;
    }
  }

  /** Lets time pass; every deadline on the way fires at its own time. */
  async advance(duration: string | number): Promise<void> {
    const endsAt = this.clock.now() + parseDuration(duration);
    await this.settle();
    while (this.clock.step(endsAt)) await this.settle();
    this.clock.advanceTo(endsAt);
    await this.settle();
  }

  /** Lets things happen until the call has ended, without time passing. */
  async during<T>(call: Promise<T>): Promise<T> {
    let isOver = false;
    const over = (): void => {
      isOver = true;
    };
    call.then(over, over);
    for (let round = 0; !isOver && round < 10_000; round += 1) await this.settle();
    if (!isOver) throw new Error('The call does not end without time passing.');
    return call;
  }
}

export class RecoveryNode<TKinds extends KindMap = Record<string, AnyStateMachine>> {
  readonly store: RecoveryStore;
  readonly #nodes: RecoveryNodes;
  readonly #settings: NodeSettings<TKinds>;
  #rt: TestRuntime<TKinds> | undefined;
  #life = 0;

  constructor(nodes: RecoveryNodes, settings: NodeSettings<TKinds>) {
    this.#nodes = nodes;
    this.#settings = settings;
    this.store = new RecoveryStore(recoveryDirectory());
    onTestFinished(() => this.end());
  }

  get rt(): TestRuntime<TKinds> {
    if (this.#rt === undefined) throw new Error('The node is down.');
    return this.#rt;
  }

  get runtime() {
    return this.rt.runtime;
  }

  /** The process ends: nothing is finished, and its files are left as they are. */
  async die(): Promise<void> {
    this.rt.runtime.crash();
    this.#rt = undefined;
    await this.store.reopen();
  }

  /** As `die`, after at most this many groups more. */
  dieLater(death: Death): void {
    this.store.die(death);
  }

  /** A new process on the same directory, perhaps with other kinds. */
  async comeBack(changed: Partial<NodeSettings<TKinds>> = {}): Promise<void> {
    const { node = 'node', lease, ...rest } = { ...this.#settings, ...changed };
    this.#life += 1;
    const rt = new TestRuntime<TKinds>({
      ...rest,
      node,
      clock: this.#nodes.clock,
      store: this.store,
      seed: this.#life,
      lease: lease?.(this.store.directory) ?? localLease(),
      transport: () => this.#nodes.network.join(node),
    });
    await rt.start();
    this.#rt = rt;
    await this.#nodes.settle();
  }

  /** For good, with its directory. */
  async end(): Promise<void> {
    this.#rt?.runtime.crash();
    this.#rt = undefined;
    await this.store.close();
    rmSync(this.store.directory, { recursive: true, force: true });
  }

  async restart(changed: Partial<NodeSettings<TKinds>> = {}): Promise<void> {
    await this.die();
    await this.comeBack(changed);
  }
}

/** Taken before anybody fakes it. */
const { setImmediate: afterInput } = globalThis;

function nextTick(): Promise<void> {
  return new Promise((resolve) => {
    afterInput(resolve);
  });
}
