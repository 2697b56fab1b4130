/**
 * All nemeses of a plan, each begun and ended at its moment.
 *
 * Guarantees: none goes on beyond its length or beyond the moment of healing, whichever comes first. A
 * plan that names a kind that is not on the menu is an error before anything begins.
 */

import type { Nemesis, Plan } from '../jobs/plan.ts';
import { kindOfNemesis } from './menu.ts';
import { type AnyScene, Strike } from './strike.ts';

export class Strikes {
  readonly #scene: AnyScene;
  readonly #plan: Pick<Plan, 'nemeses' | 'healAtMs'>;
  readonly #underWay = new Set<Strike>();

  constructor(scene: AnyScene, plan: Pick<Plan, 'nemeses' | 'healAtMs'>) {
    this.#scene = scene;
    this.#plan = plan;
    scene.world.history.read((record) => {
      for (const strike of this.#underWay) strike.see(record);
    });
  }

  /** From now on they come by themselves. @throws {Error} when there is no such kind. */
  schedule(): void {
    for (const nemesis of this.#plan.nemeses) {
      const { begin } = kindOfNemesis(nemesis.kind);
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

  #begin(nemesis: Nemesis, begin: (strike: Strike) => void): void {
    const { world } = this.#scene;
    const healAtMs = this.#plan.healAtMs ?? Number.POSITIVE_INFINITY;
    const lastsMs = Math.min(Math.max(1, nemesis.durMs), healAtMs - nemesis.atMs);
    if (lastsMs <= 0) return;
    const strike = new Strike(nemesis, this.#scene, lastsMs);
    this.#underWay.add(strike);
    world.at(world.now() + lastsMs, () => this.#end(strike));
    begin(strike);
  }

  #end(strike: Strike, mayRestart?: (name: string) => boolean): void {
    strike.end(mayRestart);
    this.#underWay.delete(strike);
  }
}
