/**
 * Driver of the engine: the machine as an actor of a test runtime, with its records, deadlines and turns.
 *
 * Promises, callbacks and observables of the machine are replaced by ones that end when a step says so.
 * With `restartsAlways` the process dies and comes back before every step, which must change nothing.
 */

import type { AnyActorRef, AnyStateMachine } from 'xstate';
import * as XState from 'xstate';
import { RuntimeError } from '../../runtime/base/errors.ts';
import { SimulatedClock, type TestRuntime, testRuntime } from '../../simulator/testing.ts';
import { draftOf, type InvokeDraft, rebuild, statesIn } from './definition.ts';
import type { Driver } from './driver.ts';
import type { LiveFailure } from './live.ts';
import type { Observation } from './observation.ts';
import type { TestStep } from './step.ts';
import { BEGINS_AT } from './subject.ts';

// XState's names are taken at run time: where another version lacks one, the check of its version can still speak.
const { fromPromise } = XState;

const ADDRESS = 'machine/it';
/** Why an event may be sent away without being taken: it is the same as to be ignored. */
const IGNORED = ['ACTOR_ENDED', 'EVENT_UNDECLARED'];

interface Pending {
  resolve(output: unknown): void;
  reject(error: Error): void;
}

export function engineDriver(
  machine: AnyStateMachine,
  { restartsAlways = false }: { readonly restartsAlways?: boolean } = {},
): Driver {
  const pending = new Map<string, Pending>();
  const kind = withoutOwnChildren(machine, pending);
  let runtime: TestRuntime | undefined;
  const here = (): TestRuntime => {
    if (runtime === undefined) throw new Error('The driver has not been started.');
    return runtime;
  };
  return {
    async start(input) {
      pending.clear();
      const clock = new SimulatedClock({ startAt: BEGINS_AT });
      runtime = (await testRuntime({ kinds: { machine: kind }, clock })) as unknown as TestRuntime;
      await here().spawn(ADDRESS, { input } as never);
      await here().settle();
    },
    async perform(step) {
      if (restartsAlways) await here().crash();
      await carryOut(here(), step, pending);
    },
    async observe(): Promise<Observation> {
      const snapshot = here().actor(ADDRESS).getSnapshot() as unknown as Observation & {
        readonly tags: ReadonlySet<string>;
      };
      const { status, value, context, output, tags } = snapshot;
      return { status, value, context, output, tags: [...tags] };
    },
    stop() {
      runtime?.runtime.crash();
      runtime = undefined;
    },
  };
}

/**
 * Plays a failing case once more on the engine, up to the step at which it fails, and writes it as a page of the
 * inspector. @throws what hindered it from being written
 */
export async function writeFailurePage(
  machine: AnyStateMachine,
  input: unknown,
  { test, afterStep, what, expected, seen }: LiveFailure,
  page: string,
): Promise<void> {
  const pending = new Map<string, Pending>();
  const kind = withoutOwnChildren(machine, pending);
  const clock = new SimulatedClock({ startAt: BEGINS_AT });
  const failed = new Error(`${what}: expected ${expected}, seen ${seen}`);
  const play = async (runtime: TestRuntime): Promise<void> => {
    await runtime.spawn(ADDRESS, { input } as never);
    await runtime.settle();
    for (const step of test.steps.slice(0, afterStep)) await carryOut(runtime, step, pending);
    throw failed;
  };
  try {
    await testRuntime({ kinds: { machine: kind }, clock, page }, play as never);
  } catch (thrown) {
    const isWritten = thrown instanceof Error && thrown.message.includes(`page: ${page}`);
    if (isWritten) return;
    // What the test threw comes first, and then why there is no page.
    throw new Error(thrown instanceof Error ? thrown.message.split('\n').at(-1) : String(thrown));
  }
}

async function carryOut(
  runtime: TestRuntime,
  step: TestStep,
  pending: Map<string, Pending>,
): Promise<void> {
  switch (step.type) {
    case 'send': {
      const { event, lateMs } = step;
      const sent = runtime
        .actor(ADDRESS)
        .send(event as never)
        .then(
          () => undefined,
          (refusal: unknown) => refusal,
        );
      // The message is in the mailbox and its turn has not begun: it is taken first, and late.
      if (lateMs !== undefined) runtime.clock.advanceTo(runtime.now() + lateMs);
      await runtime.settle();
      throwUnlessIgnored(await sent);
      return;
    }
    case 'advance':
      await runtime.advance(step.byMs);
      return;
    case 'resolve':
      pending.get(step.child)?.resolve(step.output);
      break;
    case 'reject':
      pending.get(step.child)?.reject(new Error(step.message));
      break;
    case 'restart':
      await runtime.crash();
  }
  await runtime.settle();
}

function throwUnlessIgnored(refusal: unknown): void {
  if (refusal === undefined) return;
  if (refusal instanceof RuntimeError && IGNORED.includes(refusal.code)) return;
  throw refusal;
}

/** The machine with children that end only when told to; those that are machines stay as they are. */
function withoutOwnChildren(
  machine: AnyStateMachine,
  pending: Map<string, Pending>,
): AnyStateMachine {
  const controlled = fromPromise(
    ({ self }) =>
      new Promise((resolve, reject) => {
        pending.set(pathOf(self), { resolve, reject });
      }),
  );
  const draft = draftOf(machine);
  const { actors } = draft.implementations;
  for (const [name, logic] of Object.entries(actors))
    if (actsAlone(logic)) actors[name] = controlled;
  for (const { invoke } of statesIn(draft.root)) {
    for (const [index, one] of invoke.entries())
      if (actsAlone(one.src)) invoke[index] = { ...one, src: controlled } as InvokeDraft;
  }
  return rebuild(draft);
}

/** True of a promise, a callback and an observable; reducers have no `start`. */
const actsAlone = (logic: unknown): boolean =>
  typeof logic === 'object' && logic !== null && 'start' in logic && !('__xstatenode' in logic);

/** Ids of its parents and its own, without that of the root. */
function pathOf(self: AnyActorRef): string {
  const ids: string[] = [];
  for (let one: AnyActorRef | undefined = self; one?._parent !== undefined; one = one._parent)
    ids.unshift(one.id);
  return ids.join('/');
}
