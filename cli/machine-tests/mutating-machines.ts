/**
 * Hook in the making of machines: hands on what a machine is made of, changed where it is the one of the plan, and
 * tells of each step of it.
 */

import type { AnyStateMachine } from 'xstate';
import { configOf, draftOf } from '../../testing/model/definition.ts';
import { mutantsOf } from '../../testing/mutants/operators.ts';
import { fingerprintOf } from './fingerprint.ts';
import type { Plan } from './mutating-plan.ts';

type Class = new (config: object, implementations: object) => AnyStateMachine;
type Made = readonly [config: object, implementations: object];

/** Hands on what a machine is made of, changed where it is the machine of the plan. */
export function mutating(
  { id, fingerprint, mutant }: Plan,
  note: (line: string) => void,
): (config: object, implementations: object, made: Class) => Made {
  const ours = new WeakSet<object>();
  const changed = new WeakSet<object>();
  let isLooking = false;
  let isWatched = false;
  return (config, implementations, StateMachine) => {
    const asIs: Made = [config, implementations];
    const isOther = ((config as { readonly id?: string }).id ?? '(machine)') !== id;
    if (isLooking || isOther || changed.has(config)) return asIs;
    isLooking = true;
    try {
      if (!isWatched) watch(StateMachine, ours, () => note(`file ${testFile()}`));
      isWatched = true;
      const original = new StateMachine(config, implementations);
      if (fingerprintOf(draftOf(original)) !== fingerprint) return asIs;
      note('made');
      ours.add(config);
      const draft = mutantsOf(original)
        .find((one) => one.id === mutant)
        ?.draft();
      if (draft === undefined) return asIs;
      note('changed');
      const mutated = configOf(draft.root);
      ours.add(mutated);
      changed.add(mutated);
      return [mutated, draft.implementations];
    } finally {
      isLooking = false;
    }
  };
}

interface Stepped {
  readonly config: object;
  getTransitionData(...args: unknown[]): unknown;
  _getPreInitialState(...args: unknown[]): unknown;
}

/** Tells of each step of a machine that is ours, by any interpreter. */
function watch(StateMachine: Class, ours: WeakSet<object>, stepped: () => void): void {
  const prototype = StateMachine.prototype as Stepped;
  for (const name of ['getTransitionData', '_getPreInitialState'] as const) {
    const run = prototype[name];
    prototype[name] = function watched(this: Stepped, ...args) {
      if (ours.has(this.config)) stepped();
      return run.apply(this, args);
    };
  }
}

/** The file of tests that runs; empty where the runner does not say. */
const testFile = (): string =>
  (globalThis as { readonly __vitest_worker__?: { readonly filepath?: string } }).__vitest_worker__
    ?.filepath ?? '';
