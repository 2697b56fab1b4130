/**
 * All nemeses of a plan, each begun and ended at its moment.
 *
 * Guarantees: none goes on beyond its length or beyond the moment of healing, whichever comes first. A
 * plan that names a kind that is not on the menu is an error before anything begins.
 */

import type { Nemesis, PlannedFaults } from './nemesis.ts';
import { kindOfNemesis, type NemesisKind } from './nemesis-kind.ts';
import { type Scene, Strike } from './strike.ts';

export class Strikes<TScene extends Scene = Scene> {
  readonly #scene: TScene;
  readonly #plan: PlannedFaults;
  readonly #menu: readonly NemesisKind<TScene>[];
  readonly #underWay = new Set<Strike<TScene>>();

  constructor(scene: TScene, plan: PlannedFaults, menu: readonly NemesisKind<TScene>[]) {
    this.#menu = menu;
    this.#scene = scene;
    this.#plan = plan;
    scene.world.history.read((record) => {
      for (const strike of this.#underWay) strike.see(record);
    });
  }

  /** From now on they come by themselves. @throws {Error} when there is no such kind. */
  schedule(): void {
    for (const nemesis of this.#plan.nemeses) {
      const { begin } = kindOfNemesis(this.#menu, nemesis.kind);
      this.#scene.world.at(nemesis.atMs, () => this.#begin(nemesis, begin));
    }
  }

  /** Ends those under way. `mayRestart`: whom of those they brought down they start again. */
  end(mayRestart: (name: string) => boolean): void {
    for (const strike of this.#underWay) this.#end(strike, mayRestart);
  }

  /** The run is over: says how those under way ended, and leaves everything as it is. */
  tally(): void {
    for (const strike of this.#underWay) strike.tally();
  }

  #begin(nemesis: Nemesis, begin: (strike: Strike<TScene>) => void): void {
    const { world } = this.#scene;
    const healAtMs = this.#plan.healAtMs ?? Number.POSITIVE_INFINITY;
    const lastsMs = Math.min(Math.max(1, nemesis.durMs), healAtMs - nemesis.atMs);
    if (lastsMs <= 0) return;
    const strike = new Strike(nemesis, this.#scene, lastsMs);
    this.#underWay.add(strike);
    world.at(world.now() + lastsMs, () => this.#end(strike));
    begin(strike);
  }

  #end(strike: Strike<TScene>, mayRestart?: (name: string) => boolean): void {
    strike.end(mayRestart);
    this.#underWay.delete(strike);
  }
}
