/**
 * All that may happen next in a world, one thing at a time.
 *
 * What needs no luck comes first, so the first move of each world is a fair one: a node that is down
 * comes back, what was sent arrives, a deadline fires, and nothing goes wrong. Last come the faults
 * and what people do, each as often as the scope allows.
 */

import type { Finding } from './actor-states.ts';
import { type Cast, JOB_ID } from './cast.ts';
import { Deadlines } from './deadlines.ts';
import { Deliveries } from './deliveries.ts';
import { GateProgram } from './gate-program.ts';
import { type Move, made } from './move.ts';
import { GRANT_MS } from './scope.ts';
import { GATE, nameOf, PLACES, receiverOf, Turns } from './turns.ts';
import { Work } from './work.ts';
import { DISPATCH, LANES, NOBODY, type Site, WORK, type World } from './world.ts';

export class Moves {
  readonly #cast: Cast;
  readonly #turns: Turns;
  readonly #deliveries: Deliveries;
  readonly #program: GateProgram;
  readonly #deadlines: Deadlines;
  readonly #work: Work;
  readonly #mortal: ReadonlySet<number>;

  constructor(cast: Cast) {
    this.#cast = cast;
    this.#turns = new Turns(cast);
    this.#deliveries = new Deliveries(cast, this.#turns);
    this.#program = new GateProgram(cast, this.#turns);
    this.#deadlines = new Deadlines(this.#turns);
    this.#work = new Work(cast, this.#turns);
    const places = cast.scope.mortal.map((name) => (name === 'gate' ? GATE : +(name === 'B')));
    this.#mortal = new Set(places);
  }

  /** The job has been submitted at the gate. */
  first(): Move {
    const { crashes, absences, delays, copies, cancels, grants } = this.#cast.scope;
    const site = () => ({
      isUp: true,
      fence: 1,
      job: NOBODY,
      work: WORK.none,
      dispatch: DISPATCH.none,
      isSought: false,
    });
    const world: World = {
      ...{ nowMs: 0, crashes, absences, delays, copies, cancels, grants, late: 0 },
      ...{ isGateUp: true, gateFence: 1, gate: 0 },
      sites: [site(), site()],
      lanes: Array.from({ length: LANES }, () => []),
      hints: [],
    };
    return made(world, 'the job is submitted', (next) => {
      this.#turns.bearGate(next);
      if (this.#cast.scope.dispatch === 'open') return undefined;
      return [0, 1]
        .flatMap((site) => [
          this.#program.accept(next, site),
          this.#program.answer(next, site, true),
        ])
        .find((finding) => finding !== undefined);
    });
  }

  /** No deadline due after `untilMs` fires. */
  *from(world: World, untilMs: number): Generator<Move> {
    yield* this.#takeovers(world);
    yield* this.#deliveries.kept(world);
    yield* this.#deliveries.hints(world);
    yield* this.#program.moves(world);
    yield* this.#work.stops(world);
    yield* this.#deadlines.due(world, untilMs);
    yield* this.#work.plays(world);
    yield* this.#people(world);
    yield* this.#crashes(world);
  }

  *#takeovers(world: World): Generator<Move> {
    for (const who of PLACES) {
      if (this.#turns.isUp(world, who)) continue;
      yield made(world, `somebody takes over at ${nameOf(who)}`, (next) =>
        this.#takeOver(next, who),
      );
    }
  }

  #takeOver(next: World, who: number): Finding | undefined {
    if (who === GATE) {
      next.isGateUp = true;
      next.gateFence += 1;
    } else {
      const site = next.sites[who] as Site;
      site.isUp = true;
      site.fence += 1;
    }
    if (!this.#turns.isActive(next, who)) return undefined;
    const fence = who === GATE ? next.gateFence : (next.sites[who]?.fence as number);
    return this.#turns.tell(next, who, { type: 'leadership.acquired', fence, node: 'manager' });
  }

  /** A client cancels; a worker's grant is credited. */
  *#people(world: World): Generator<Move> {
    const { outcome } = this.#cast.gate.get(world.gate).context;
    if (world.cancels > 0 && world.isGateUp && outcome === null)
      yield made(world, 'a client cancels at the gate', (next) => {
        next.cancels -= 1;
        const datacenter = '';
        return this.#turns.tell(next, GATE, {
          type: 'cancel.requested',
          jobId: JOB_ID,
          datacenter,
        });
      });
    const [{ isUp, work }] = world.sites;
    if (world.grants > 0 && isUp && work === WORK.out && this.#turns.isActive(world, 0))
      yield made(world, 'A grants an extension', (next) => {
        next.grants -= 1;
        return this.#turns.tell(next, 0, {
          type: 'extension.credited',
          creditId: `c${next.grants}`,
          workerId: 'w',
          registration: 1,
          grantMs: GRANT_MS,
          operationId: '',
        });
      });
  }

  /** Anybody who has nothing to lose is left alone. */
  *#crashes(world: World): Generator<Move> {
    if (world.crashes === 0) return;
    for (const who of PLACES) {
      if (!this.#mortal.has(who)) continue;
      if (!this.#turns.isUp(world, who) || !this.#turns.isActive(world, who)) continue;
      yield made(world, `the node that leads at ${nameOf(who)} dies`, (next) => {
        next.crashes -= 1;
        if (who === GATE) next.isGateUp = false;
        else (next.sites[who] as Site).isUp = false;
        next.hints = next.hints.filter(
          (hint) => receiverOf(this.#cast.messages.get(hint >> 2).lane) !== who,
        );
        return undefined;
      });
    }
  }
}
