/**
 * A path, walked by the engine: an actor of a real runtime on virtual time, whose record is read
 * after every step and compared with what the pure machine says.
 *
 * Compared are status, state, context, deadlines and unanswered messages as the store has them, and
 * what left the node in the step: hints, named actions, emitted events, an answer to the sender. A
 * machine that does not ask who leads can be walked with a restart after every step, and must not
 * notice. Inline actions have no name to be told by, and are not compared.
 */

import type { AnyStateMachine } from 'xstate';
import type { Performer } from '../../runtime/actor/kind.ts';
import type { RuntimeError } from '../../runtime/base/errors.ts';
import { type ActorHandle, type TestRuntime, testRuntime } from '../../simulator/testing.ts';
import { SimulatedClock } from '../../simulator/world/clock.ts';
import { FarSide } from './far-side.ts';
import type { PathPlan, PathStep } from './plan.ts';
import { type KeptMessage, PLACE, refusedIn, type Situation, SPAWNED_AT } from './situation.ts';
import { differenceOf, standingOf, storedStanding } from './standing.ts';

export interface Path {
  readonly inputName: string;
  readonly first: Situation;
  readonly steps: readonly WalkedStep[];
}

export interface WalkedStep {
  readonly step: PathStep;
  readonly after: Situation;
  /** It changes nothing: the rest of the path goes without it. */
  readonly isAside: boolean;
}

/** How a path is walked: in one life, or in a new one after each step. */
export type Gait = 'straight' | 'restarting';

export interface Difference {
  /** Up to the step after which they differ. */
  readonly path: Path;
  readonly gait: Gait;
  /** What differs, and how it is at either side. */
  readonly what: string;
  readonly pure: string;
  readonly engine: string;
}

const ADDRESS = 'machine/it';
/** Nobody answers by himself, so nothing need be sent again; and nobody who has ended is forgotten. */
const NEVER_MS = 1_000 * 365 * 86_400_000;

type MachineRuntime = TestRuntime<{ machine: AnyStateMachine }>;

/** The first difference on the way. */
export async function replay(
  plan: PathPlan,
  path: Path,
  gait: Gait,
): Promise<Difference | undefined> {
  const engine = await EngineActor.start(plan, path);
  try {
    for (let walked = 0; ; walked += 1) {
      const situation = path.steps[walked - 1]?.after ?? path.first;
      const found = engine.compare(situation);
      const soFar = { ...path, steps: path.steps.slice(0, walked) };
      if (found !== undefined) return { path: soFar, gait, ...found };
      const next = path.steps[walked];
      if (next === undefined) return undefined;
      if (gait === 'restarting') await engine.restart();
      await engine.carryOut(next.step, situation, next.after);
    }
  } finally {
    engine.end();
  }
}

class EngineActor {
  readonly #runtime: MachineRuntime;
  readonly #actor: ActorHandle;
  readonly #far: FarSide;
  readonly #performed: ReadonlySet<string>;
  readonly #actions: unknown[];
  readonly #emitted: unknown[] = [];
  #refusal: string | null = null;

  private constructor(
    runtime: MachineRuntime,
    far: FarSide,
    performed: readonly string[],
    actions: unknown[],
  ) {
    this.#runtime = runtime;
    this.#actor = runtime.actor(ADDRESS) as ActorHandle;
    this.#far = far;
    this.#performed = new Set(performed);
    this.#actions = actions;
    this.#actor.on('*', (event) => void this.#emitted.push(event));
  }

  static async start({ machine, inputs }: PathPlan, path: Path): Promise<EngineActor> {
    const far = new FarSide();
    const actions: unknown[] = [];
    const names = namedActions(machine);
    const perform = (name: string): Performer => {
      return ({ params }) => void actions.push({ name, params });
    };
    const runtime = await testRuntime({
      kinds: { machine },
      options: {
        machine: { perform: Object.fromEntries(names.map((name) => [name, perform(name)])) },
      },
      node: PLACE,
      clock: new SimulatedClock({ startAt: SPAWNED_AT }),
      limits: { retryMinMs: NEVER_MS, retryMaxMs: NEVER_MS, endedRetentionMs: NEVER_MS },
      transport: () => far.join(),
    });
    far.expect([...path.first.kept, ...path.first.hints]);
    const engine = new EngineActor(runtime, far, names, actions);
    await runtime.spawn(ADDRESS, { input: inputs[path.inputName] } as never);
    await runtime.settle();
    return engine;
  }

  async carryOut(step: PathStep, before: Situation, after: Situation): Promise<void> {
    const runtime = this.#runtime;
    this.#far.expect([...after.kept, ...after.hints]);
    switch (step.type) {
      case 'send':
        await this.#send(step);
        return;
      case 'wait':
        await runtime.advance(after.at - before.at);
        return;
      case 'restart':
        await this.restart();
        return;
      case 'refuse': {
        const refused = refusedIn(before, step.eventType) as KeptMessage;
        for (const one of before.kept)
          if (one.to === refused.to && one.counter < refused.counter) this.#far.answer(one);
        this.#far.answer(refused, step.code);
        await runtime.settle();
      }
    }
  }

  compare(situation: Situation) {
    const left = {
      hints: this.#far.hints(),
      actions: this.#actions.splice(0),
      emitted: this.#emitted.splice(0),
      refusal: this.#refusal,
    };
    this.#refusal = null;
    const { store } = this.#runtime;
    const address = `${ADDRESS}@${PLACE}`;
    const text = store.load(address);
    if (text === undefined) return { what: 'record', pure: 'there', engine: 'missing' };
    return differenceOf(
      standingOf(situation, this.#performed),
      storedStanding(text, store.rows(address), left),
    );
  }

  async restart(): Promise<void> {
    await this.#runtime.crash();
  }

  end(): void {
    this.#runtime.runtime.crash();
  }

  async #send({ event, lateMs }: Extract<PathStep, { type: 'send' }>): Promise<void> {
    const { clock } = this.#runtime;
    const sent = this.#actor.send(event).catch((refusal: RuntimeError) => {
      this.#refusal = refusal.code;
    });
    // The message is in the mailbox and its turn has not begun: it is taken first, and late.
    if (lateMs > 0) clock.advanceTo(clock.now() + lateMs);
    await this.#runtime.settle();
    await sent;
  }
}

/** The actions that the machine names and leaves to its runtime. */
function namedActions(machine: AnyStateMachine): string[] {
  const { actions } = machine.implementations as { actions: Record<string, unknown> };
  return Object.keys(actions).filter((name) => {
    const action = actions[name];
    return !(typeof action === 'function' && 'resolve' in action);
  });
}
