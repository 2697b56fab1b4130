/**
 * A nemesis at work: what its kind does, until it is over.
 *
 * Guarantees: its chance is that of the run's seed and its own name, so no other nemesis moves it.
 * It says in the history when it began, when it changed something, and when it ended; of what cannot
 * be done at its moment nothing is said. With its end everything is undone: what it did to the network
 * and the disks ends, and each node that it brought down is started again.
 */

import type { HistoryRecord } from '../history.ts';
import { Chance, type Fault, type GroupEnd, type World, type WorldNode } from '../world.ts';
import type { ClusterShape } from './cluster-shape.ts';
import type { Nemesis } from './nemesis.ts';

/** A cluster in its world. */
export interface Scene {
  readonly world: World;
  readonly shape: ClusterShape;
}

/** Hits that the history tells of, for each nemesis; the others are counted only. */
const TOLD_MAX = 20;

type Hearer = (record: never) => void;

export class Strike<TScene extends Scene = Scene> {
  readonly nemesis: Nemesis;
  readonly scene: TScene;
  readonly chance: Chance;
  /** It ends so much later than it began, at the latest. */
  readonly lastsMs: number;
  /** True time since zero. */
  readonly endsAtMs: number;
  /** How often it changed something. */
  hits = 0;
  isOver = false;
  readonly #fault: Fault;
  readonly #undoings: Array<() => void> = [];
  readonly #kept: Array<{ readonly hits: number }> = [];
  readonly #hearers = new Map<HistoryRecord['type'], Hearer[]>();
  readonly #down = new Set<string>();

  constructor(nemesis: Nemesis, scene: TScene, lastsMs: number) {
    const { id, kind, targets, params } = nemesis;
    this.lastsMs = lastsMs;
    this.endsAtMs = scene.world.now() + lastsMs;
    this.nemesis = nemesis;
    this.scene = scene;
    this.chance = new Chance(scene.world.random(`nemesis/${id}`));
    this.#fault = scene.world.fault(kind, id, { targets, params });
  }

  get world(): World {
    return this.scene.world;
  }

  /** Nodes that it brought down and that are still to be started. */
  get down(): readonly string[] {
    return [...this.#down];
  }

  /** A parameter of the nemesis that is a number; 0 when it has none of that name. */
  number(name: string): number {
    return Number(this.nemesis.params[name] ?? 0);
  }

  /** A parameter that is a word. */
  word(name: string): string {
    return String(this.nemesis.params[name] ?? '');
  }

  /** A parameter that is a claim. */
  is(name: string): boolean {
    return this.nemesis.params[name] === true;
  }

  /** It changed something. */
  hit(about: unknown = {}): void {
    if (this.isOver) return;
    this.hits += 1;
    if (this.hits <= TOLD_MAX) this.#fault.hit(about);
  }

  /** So much later, unless it is over by then. */
  after(ms: number, action: () => unknown): void {
    this.world.at(this.world.now() + ms, () => (this.isOver ? undefined : action()));
  }

  /** At this moment, when everything has happened that was due at it. */
  soon(action: () => unknown): void {
    this.world.clock.defer(() => {
      if (!this.isOver) this.world.pace.watch(action);
    });
  }

  /** Hears every such record while it goes on, inside of whatever writes it: act `soon`. */
  hear<TType extends HistoryRecord['type']>(
    type: TType,
    hearer: (record: Extract<HistoryRecord, { readonly type: TType }>) => void,
  ): void {
    const hearers = this.#hearers.get(type) ?? [];
    hearers.push(hearer as Hearer);
    this.#hearers.set(type, hearers);
  }

  see(record: HistoryRecord): void {
    if (this.isOver) return;
    for (const hear of this.#hearers.get(record.type) ?? []) hear(record as never);
  }

  /** When it ends, in the order opposite to that in which it was asked for. */
  whenOver(undo: () => void): void {
    this.#undoings.push(undo);
  }

  /** Something that goes on until it ends; what it counts as hits is told at the end. */
  keep(going: { readonly hits?: number; end(): void }): void {
    if (going.hits !== undefined) this.#kept.push(going as { readonly hits: number });
    this.whenOver(() => going.end());
  }

  /** Tells of everything that was counted elsewhere. */
  tally(): void {
    for (const { hits } of this.#kept.splice(0)) if (hits > 0) this.hit({ count: hits });
  }

  /** Crashes a node, to be started again when this ends or `restart` says so. False: it is down. */
  crash(name: string): boolean {
    const node = this.world.node(name);
    if (!node.isUp) return false;
    node.crash();
    this.#down.add(name);
    this.hit({ crashed: name });
    return true;
  }

  /** Crashes that life of a node while its disk has groups under way, which end so. */
  crashAmid(name: string, life: number, end?: GroupEnd): boolean {
    const node = this.world.node(name);
    if (!node.isUp || node.life !== life) return false;
    if (end !== undefined) this.world.diskOf(node.place).crash(name, life, end);
    return this.crash(name);
  }

  /** Stops a node in order, to be started again as one that crashed. False: it is not running. */
  stop(name: string): boolean {
    const node = this.world.node(name);
    if (!node.isRunning) return false;
    this.world.pace.watch(() => node.stop());
    this.#down.add(name);
    this.hit({ stopped: name });
    return true;
  }

  /** Lets a process stand still, not beyond the end of this. False: it is down, or this is over. */
  pause(name: string, durationMs: number): boolean {
    const node = this.world.node(name);
    const forMs = Math.min(durationMs, this.endsAtMs - this.world.now());
    if (!node.isUp || forMs <= 0) return false;
    node.pause(forMs);
    this.hit({ paused: name, forMs });
    return true;
  }

  /** It came down because of this without having been crashed by it. */
  broughtDown(name: string): void {
    this.#down.add(name);
  }

  /** Starts a node that this brought down; one that has not stopped yet is waited for no longer. */
  restart(name: string): void {
    if (!this.#down.delete(name)) return;
    const node = this.world.node(name);
    if (node.isStopping) node.crash();
    start(this.world, node);
  }

  /** `mayRestart`: of those it brought down, whom it starts again. Default: all. */
  end(mayRestart: (name: string) => boolean = () => true): void {
    if (this.isOver) return;
    this.tally();
    for (const undo of this.#undoings.reverse()) undo();
    for (const name of this.down) if (mayRestart(name)) this.restart(name);
    this.isOver = true;
    this.#fault.end();
  }
}

/** Starts a node that is down. One whose program fails while it comes up is down again. */
export function start(world: World, node: WorldNode): void {
  if (node.isUp) return;
  world.pace.watch(() => node.start().catch(() => undefined));
}
