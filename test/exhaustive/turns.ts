/**
 * Turns in a world: an actor takes something, and what it says and asks for is in the world after.
 *
 * A turn is committed whole or never happened, so a crash before its commit is a crash before the
 * turn. What a crash swallows beside that are messages without guarantee.
 */

import type { JobContext } from '../../machines/jobs/job.ts';
import type { ActorStates, Finding, PlayedEvent, Turn } from './actor-states.ts';
import { type Cast, DATACENTERS, ZERO } from './cast.ts';
import { DISPATCH, NOBODY, type Site, WORK, type World } from './world.ts';

/** The gate; sites are 0 and 1. */
export const GATE = 2;
export const PLACES = [GATE, 0, 1] as const;

export const nameOf = (who: number): string => DATACENTERS[who] ?? 'the gate';

export class Turns {
  readonly #cast: Cast;

  constructor(cast: Cast) {
    this.#cast = cast;
  }

  /** The state of an actor; undefined where there is none. */
  stateOf(world: World, who: number) {
    if (who === GATE) return this.#cast.gate.get(world.gate);
    const { job } = this.#siteOf(world, who);
    return job === NOBODY ? undefined : this.#jobsAt(who).get(job);
  }

  isActive(world: World, who: number): boolean {
    return this.stateOf(world, who)?.isDone === false;
  }

  isUp(world: World, who: number): boolean {
    return who === GATE ? world.isGateUp : this.#siteOf(world, who).isUp;
  }

  /** The message is taken by an actor that is there and has not ended. Changes the world. */
  take(world: World, who: number, message: number): Finding | undefined {
    const { event } = this.#cast.messages.get(message);
    const at = ZERO + world.nowMs;
    if (who === GATE)
      return this.#settle(world, who, this.#cast.gate.take(world.gate, message, event, at));
    const { job } = this.#siteOf(world, who);
    return this.#settle(world, who, this.#jobsAt(who).take(job, message, event, at));
  }

  tell(world: World, who: number, event: PlayedEvent): Finding | undefined {
    return this.take(world, who, this.#cast.told(event));
  }

  fire(world: World, who: number): Finding | undefined {
    const at = ZERO + world.nowMs;
    if (who === GATE) return this.#settle(world, who, this.#cast.gate.fire(world.gate, at));
    const { job } = this.#siteOf(world, who);
    return this.#settle(world, who, this.#jobsAt(who).fire(job, at));
  }

  bearGate(world: World): void {
    const turn = this.#cast.gate.born(this.#cast.submission, ZERO + world.nowMs);
    this.#settle(world, GATE, turn);
  }

  bearJob(world: World, site: number): void {
    const input = this.#cast.jobInput(site, this.#siteOf(world, site).fence);
    this.#settle(world, site, this.#jobsAt(site).born(input, ZERO + world.nowMs));
  }

  #siteOf(world: World, site: number) {
    return world.sites[site] as Site;
  }

  #jobsAt(site: number): ActorStates<JobContext> {
    return this.#cast.jobs[site] as ActorStates<JobContext>;
  }

  #settle(world: World, who: number, { next, says, asks, broken }: Turn): Finding | undefined {
    if (who === GATE) world.gate = next;
    else this.#siteOf(world, who).job = next;
    let finding = broken;
    for (const number of says) {
      const wrong = this.#send(world, who, number);
      finding ??= wrong;
    }
    for (const { name, params } of asks) {
      const { datacenter } = params as { readonly datacenter: (typeof DATACENTERS)[number] };
      const site = this.#siteOf(world, DATACENTERS.indexOf(datacenter));
      if (name === 'dispatchTo') site.dispatch = DISPATCH.asking;
      if (name === 'findStatus') site.isSought = true;
    }
    return finding;
  }

  #send(world: World, who: number, number: number): Finding | undefined {
    const { lane, isHint, event } = this.#cast.messages.get(number);
    if (lane < 0) {
      hear(this.#siteOf(world, who), event);
      return event.type === 'workflow.ready' ? this.#afterOutcome(world, who) : undefined;
    }
    if (!isHint) {
      world.lanes[lane]?.push(2 * number);
      return undefined;
    }
    if (!this.isUp(world, receiverOf(lane))) return undefined;
    world.hints.push(4 * number);
    if (world.hints.length > this.#cast.scope.hints) world.hints.shift();
    return undefined;
  }

  /** OUT-4: what the gate has declared ended does not begin. Jobs of earlier releases are not told until when they may. */
  #afterOutcome(world: World, who: number): Finding | undefined {
    const { outcome } = this.#cast.gate.get(world.gate).context;
    if (outcome === null || this.#cast.scope.beginsBeforeMs === null) return undefined;
    const what = `the job in ${nameOf(who)} begins after its outcome was published`;
    return { invariant: 'OUT-4', what };
  }
}

/** Lanes 0 and 1 lead from the gate to a site, 2 and 3 from a site to the gate. */
export const receiverOf = (lane: number): number => (lane < 2 ? lane : GATE);
export const senderOf = (lane: number): number => (lane < 2 ? GATE : lane - 2);

/** A workflow hears its job at once, see work.ts. */
function hear(site: Site, event: PlayedEvent): void {
  if (event.type === 'workflow.ready') site.work = WORK.ready;
  if (event.type === 'workflow.held' && site.work === WORK.ready) site.work = WORK.waiting;
  if (event.type === 'workflow.cancel' && site.work !== WORK.over) site.work = WORK.stopping;
}
