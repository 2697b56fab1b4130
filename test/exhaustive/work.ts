/**
 * The workflow of a datacenter, played: what its job hears of it, at any moment that its chart allows.
 *
 *   waiting ──workflow.ready──▶ ready ──DISPATCHED──▶ out ──COMPLETED | FAILED──▶ over
 *      └──────────────────────────┴─────workflow.cancel──┴──▶ stopping ──CANCELLED | COMPLETED──▶ over
 *
 * Since it may say each thing at any moment, it says it in the moment in which its job hears it, and
 * hears its job at once. It is never tried again. Workers, their health and the queue for them are
 * behind it and not in the world.
 */

import type { PlayedEvent } from './actor-states.ts';
import { type Cast, WORKFLOW_ID } from './cast.ts';
import { type Move, made } from './move.ts';
import { nameOf, type Turns } from './turns.ts';
import { type Site, WORK, type World } from './world.ts';

export class Work {
  readonly #cast: Cast;
  readonly #turns: Turns;

  constructor(cast: Cast, turns: Turns) {
    this.#cast = cast;
    this.#turns = turns;
  }

  /** One that is to stop does. */
  *stops(world: World): Generator<Move> {
    for (const [site, { isUp, work }] of world.sites.entries()) {
      if (!isUp || work !== WORK.stopping) continue;
      yield this.#say(world, site, WORK.over, 'CANCELLED');
    }
  }

  *plays(world: World): Generator<Move> {
    for (const [site, { isUp, work }] of world.sites.entries()) {
      const plan = this.#cast.scope.work[site];
      if (!isUp || plan === 'none') continue;
      if (work === WORK.ready) yield this.#say(world, site, WORK.out, 'DISPATCHED');
      if (plan !== 'ends') continue;
      const isRunning = work === WORK.out;
      if (isRunning || work === WORK.stopping) yield this.#say(world, site, WORK.over, 'COMPLETED');
      if (isRunning) yield this.#say(world, site, WORK.over, 'FAILED');
    }
  }

  #say(world: World, site: number, work: number, state: string): Move {
    return made(world, `the workflow in ${nameOf(site)} is ${state}`, (next) => {
      (next.sites[site] as Site).work = work;
      const isHeard = this.#turns.isActive(next, site);
      return isHeard ? this.#turns.tell(next, site, changed(state)) : undefined;
    });
  }
}

function changed(state: string): PlayedEvent {
  const nobody = { run: 1, workerId: null, lateEvent: null };
  const cause = state === 'FAILED' ? 'failed' : null;
  const final = state !== 'DISPATCHED';
  return { type: 'workflow.changed', workflowId: WORKFLOW_ID, state, final, cause, ...nobody };
}
