/**
 * One node of a pretend world: it can crash and come back, be paused, and have a clock that is off.
 *
 * Guarantees: what crashed does nothing any more, neither by a timer nor on the lease store,
 * and is heard of no more; only its disk is what it was. What is started again under its name knows
 * what is on that disk and nothing else. All that its program says goes into the history.
 */

import { messageOf } from '../../runtime/base/errors.ts';
import type { Logger } from '../../runtime/base/limits.ts';
import type { Clock } from '../../runtime/ports/clock.ts';
import type { Store } from '../../runtime/ports/store.ts';
import type { Transport } from '../../runtime/ports/transport.ts';
import type { HistoryFact, NodeFact } from '../history.ts';
import type { LeaseCounter, LeaseOffice } from './lease-office.ts';
import type { SimulatedNetwork } from './network/network.ts';
import { NodeClock } from './node-clock.ts';
import type { NodeDefinition, NodePorts, RunningProgram } from './node-definition.ts';
import { SeededRandom } from './random.ts';
import { retold } from './retelling.ts';

/** A disk as a node gets at it. */
export interface NodeDisk {
  mount(node: string, life: number, clock: Clock): Store;
  crash(node: string, life: number): void;
}

export interface Surroundings {
  readonly clock: Clock;
  readonly network: SimulatedNetwork;
  readonly office: LeaseOffice;
  readonly seed: number;
  /** Disk of the node's place, as it is now. */
  diskOf(): NodeDisk;
  tell(node: string, fact: HistoryFact): void;
}

interface Life<TProgram> {
  readonly number: number;
  readonly clock: NodeClock;
  readonly counter: LeaseCounter;
  readonly transport: Transport;
  readonly disk: NodeDisk;
  program: TProgram | undefined;
  isStopping: boolean;
  isOver: boolean;
  pausedUntilMs: number;
}

export class WorldNode<TProgram extends RunningProgram = RunningProgram> {
  readonly node: string;
  readonly place: string;
  /** How far its wall clock is ahead; it is read when the node starts. */
  skewMs = 0;
  /** How many millionths its clock runs too fast, in this life and the next ones. */
  driftPpm = 0;
  readonly #surroundings: Surroundings;
  readonly #definition: NodeDefinition<TProgram>;
  #life: Life<TProgram> | undefined;
  #lives = 0;

  constructor(definition: NodeDefinition<TProgram>, surroundings: Surroundings) {
    this.node = definition.node;
    this.place = definition.place;
    this.#definition = definition;
    this.#surroundings = surroundings;
  }

  /** It has been started and has neither crashed nor stopped. */
  get isUp(): boolean {
    return this.#life !== undefined;
  }

  /** Its program has come up. */
  get isRunning(): boolean {
    return this.#life?.program !== undefined;
  }

  /** It was told to stop and has not yet. */
  get isStopping(): boolean {
    return this.#life?.isStopping ?? false;
  }

  /** @throws {Error} when the node is down. */
  get program(): TProgram {
    const program = this.#life?.program;
    if (program === undefined) throw new Error(`Node "${this.node}" is down.`);
    return program;
  }

  /** @throws {Error} when the node is down. */
  get transport(): Transport {
    if (this.#life === undefined) throw new Error(`Node "${this.node}" is down.`);
    return this.#life.transport;
  }

  /** Which of its lives it is in, or was in last; the first is 1. */
  get life(): number {
    return this.#lives;
  }

  /** What its own clock says. @throws {Error} when the node is down. */
  get ownNow(): number {
    if (this.#life === undefined) throw new Error(`Node "${this.node}" is down.`);
    return this.#life.clock.now();
  }

  /** @throws {Error} when it is up, and whatever its program throws: then it is down again. */
  async start(): Promise<void> {
    if (this.#life !== undefined) throw new Error(`Node "${this.node}" is running already.`);
    const life = this.#begin();
    try {
      const program = await this.#definition.start(this.#portsOf(life));
      if (life.isOver) end(program);
      else life.program = program;
    } catch (thrown) {
      // A node that crashed while it came up has failed for that reason alone.
      if (life.isOver) return;
      this.#loggerOf(life).error({ error: messageOf(thrown) }, 'the process cannot start');
      this.crash();
      throw thrown;
    }
  }

  #begin(): Life<TProgram> {
    const { network, office, clock: below, diskOf } = this.#surroundings;
    this.#lives += 1;
    const clock = new NodeClock(below, this.skewMs, this.driftPpm);
    const life: Life<TProgram> = {
      number: this.#lives,
      clock,
      counter: office.counter(clock),
      transport: network.join(this.node),
      disk: diskOf(),
      program: undefined,
      isStopping: false,
      isOver: false,
      pausedUntilMs: Number.NEGATIVE_INFINITY,
    };
    this.#life = life;
    this.#tellOf('started');
    return life;
  }

  #portsOf(life: Life<TProgram>): NodePorts {
    const { clock, counter, transport, disk, number } = life;
    return {
      clock,
      counter,
      // Another life draws other numbers: its ids are not those of the one before.
      random: new SeededRandom(this.#surroundings.seed, `${this.node}/${number}`),
      transport,
      store: disk.mount(this.node, number, clock),
      logger: this.#loggerOf(life),
      inspect: (record) => {
        const fact = life.isOver ? undefined : retold(record);
        if (fact !== undefined) this.#tell(fact);
      },
      onFatal: (failure) => {
        if (life.isOver) return;
        this.#loggerOf(life).error({ error: messageOf(failure) }, 'the process ends');
        this.crash();
      },
    };
  }

  crash(): void {
    const life = this.#life;
    if (life === undefined) throw new Error(`Node "${this.node}" is down already.`);
    this.#life = undefined;
    life.isOver = true;
    life.clock.end();
    life.counter.isOpen = false;
    life.disk.crash(this.node, life.number);
    // The next node under this name is not stopped.
    this.#surroundings.network.thaw(this.node);
    if (life.program === undefined) void life.transport.stop();
    else end(life.program);
    this.#tellOf('crashed');
  }

  /** Stops in order, unless it crashes before it has; one that stands still hears of it when it goes on. */
  async stop(): Promise<void> {
    const { program } = this;
    const life = this.#life as Life<TProgram>;
    life.isStopping = true;
    await new Promise<void>((heard) => life.clock.defer(heard));
    await program.stop();
    if (life.isOver) return;
    life.isOver = true;
    life.clock.end();
    this.#life = undefined;
    this.#surroundings.network.thaw(this.node);
    this.#tellOf('stopped');
  }

  /** Freezes the process for so long; a pause that is over later holds. */
  pause(durationMs: number): void {
    const { network, clock } = this.#surroundings;
    const life = this.#life;
    if (life === undefined) throw new Error(`Node "${this.node}" is down.`);
    const untilMs = clock.now() + durationMs;
    const isPaused = life.pausedUntilMs > clock.now();
    life.pausedUntilMs = Math.max(life.pausedUntilMs, untilMs);
    life.clock.pause(durationMs);
    network.freeze(this.node);
    if (!isPaused) this.#tellOf('paused');
    clock.schedule(untilMs, () => {
      // Another life under this name hears from its beginning.
      if (life.isOver || life.pausedUntilMs > untilMs) return;
      network.thaw(this.node);
      this.#tellOf('resumed');
    });
  }

  /** From its next start on its wall clock is so far ahead. */
  skew(skewMs: number): void {
    this.skewMs = skewMs;
    this.#tellOf('skewed');
  }

  /** From now on its clock gains this many millionths. */
  drift(ppm: number): void {
    this.driftPpm = ppm;
    this.#life?.clock.drift(ppm);
    this.#tellOf('skewed');
  }

  /** For so long its process takes `factor` times as long for everything. @throws {Error} when it is down. */
  slow(factor: number, durationMs: number): void {
    if (this.#life === undefined) throw new Error(`Node "${this.node}" is down.`);
    this.#life.clock.slow(factor, durationMs);
    this.#tellOf('slowed');
  }

  /** Cuts the node off from the lease store, or lets it reach it again. */
  reachLeaseStore(isOpen: boolean): void {
    if (this.#life !== undefined) this.#life.counter.isOpen = isOpen;
  }

  #tellOf(change: NodeFact['change']): void {
    const { skewMs, driftPpm } = this;
    this.#tell({ type: 'node', change, life: this.#lives, skewMs, driftPpm });
  }

  #tell(fact: HistoryFact): void {
    this.#surroundings.tell(this.node, fact);
  }

  /** A log until the life is over. */
  #loggerOf(life: { readonly isOver: boolean }): Logger {
    const write =
      (level: 'debug' | 'info' | 'warn' | 'error') => (fields: object, message: string) => {
        if (life.isOver) return;
        this.#tell({ type: 'log', level, message, fields: fields as Record<string, unknown> });
      };
    return {
      debug: write('debug'),
      info: write('info'),
      warn: write('warn'),
      error: write('error'),
    };
  }
}

function end(program: RunningProgram): void {
  if (program.crash === undefined) program.runtime.crash();
  else program.crash();
}
