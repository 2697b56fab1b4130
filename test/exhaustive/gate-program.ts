/**
 * Program of a gate, as moves: it brings the job to the datacenters and looks up how it ended there. See
 * programs/jobs/gate.ts and programs/jobs/gate/dispatch.ts.
 *
 * What it was asked to do is kept with the job, so a gate that takes over begins it again. A
 * datacenter takes the job in one step, with its workflow, however late, and once.
 */

import { dispatchDueAt } from '../../machines/jobs/gate-job/context.ts';
import type { JobContext } from '../../machines/jobs/job.ts';
import type { ActorState, Finding } from './actor-states.ts';
import { type Cast, DATACENTERS, JOB_ID, ZERO } from './cast.ts';
import { type Move, made } from './move.ts';
import { GATE, nameOf, type Turns } from './turns.ts';
import { DISPATCH, type Site, WORK, type World } from './world.ts';

export class GateProgram {
  readonly #cast: Cast;
  readonly #turns: Turns;

  constructor(cast: Cast, turns: Turns) {
    this.#cast = cast;
    this.#turns = turns;
  }

  *moves(world: World): Generator<Move> {
    for (const [site, { dispatch, isUp, isSought }] of world.sites.entries()) {
      const name = nameOf(site);
      const isUntaken = dispatch === DISPATCH.asking || dispatch === DISPATCH.astray;
      if (isUp && isUntaken)
        yield made(world, `${name} takes the job`, (next) => this.accept(next, site));
      if (!world.isGateUp) continue;
      const answer = (isAccepted: boolean) => (next: World) => this.answer(next, site, isAccepted);
      if (dispatch === DISPATCH.taken)
        yield made(world, `the gate hears that ${name} took the job`, answer(true));
      const isAsked = dispatch === DISPATCH.asking || dispatch === DISPATCH.taken;
      if (isAsked && this.#hasGivenUp(world))
        yield made(world, `the gate asks ${name} no more`, answer(false));
      if (isSought && isUp)
        yield made(world, `the gate looks up how it ended in ${name}`, (next) =>
          this.#find(next, site),
        );
    }
  }

  accept(next: World, index: number): Finding | undefined {
    const site = next.sites[index] as Site;
    site.dispatch = site.dispatch === DISPATCH.asking ? DISPATCH.taken : DISPATCH.over;
    site.work = WORK.waiting;
    this.#turns.bearJob(next, index);
    return this.#turns.tell(next, index, { type: 'job.assembled' });
  }

  /** The first answer, so the fence in it is that of a new job. */
  answer(next: World, index: number, isAccepted: boolean): Finding | undefined {
    const site = next.sites[index] as Site;
    const isAstray = !isAccepted && site.dispatch === DISPATCH.asking;
    site.dispatch = isAstray ? DISPATCH.astray : DISPATCH.over;
    if (!this.#turns.isActive(next, GATE)) return undefined;
    return this.#turns.tell(next, GATE, {
      type: 'submission.answered',
      jobId: JOB_ID,
      datacenter: DATACENTERS[index] as string,
      accepted: isAccepted,
      created: isAccepted,
      reason: isAccepted ? null : 'unreachable',
      leaderFence: 1,
      managerId: 'manager',
    });
  }

  /** The limit for dispatching is over, or something was decided meanwhile. */
  #hasGivenUp({ gate, nowMs }: World): boolean {
    const { context } = this.#cast.gate.get(gate);
    return context.decision !== null || ZERO + nowMs > dispatchDueAt(context);
  }

  #find(next: World, index: number): Finding | undefined {
    (next.sites[index] as Site).isSought = false;
    if (!this.#turns.isActive(next, GATE)) return undefined;
    const there = this.#turns.stateOf(next, index) as ActorState<JobContext>;
    const { status, reason, localReason, gateReason } = there.context;
    const datacenter = DATACENTERS[index] as string;
    const found = { status, reason, localReason, gateReason };
    return this.#turns.tell(next, GATE, { type: 'status.found', datacenter, found });
  }
}
