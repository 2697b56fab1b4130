/**
 * Workload of a user's clients: named steps at moments, drawn before the run begins.
 *
 * Guarantees: the same seed gives the same steps, and a step that is left out moves no other. What a
 * step asks for goes out from the client's node, over a network that may lose it and its answer; an
 * error of the runtime is written down and is no failure, as in life. Anything else that a step
 * throws, an assertion for instance, breaks the invariant `STEP`.
 */

import { type ActorHandle, createHandle, type HandleHost } from '../../runtime/api.ts';
import { wholeAddress } from '../../runtime/base/address.ts';
import { parseDuration } from '../../runtime/base/duration.ts';
import { messageOf, RuntimeError } from '../../runtime/base/errors.ts';
import {
  type AddressOf,
  type KindMap,
  type MachineAt,
  Runtime,
  type SpawnArguments,
} from '../../runtime/runtime.ts';
import type { Invariant } from '../invariants.ts';
import { Chance, SeededRandom, type World } from '../world.ts';
import { CLIENT } from './cluster.ts';

export interface Workload<TKinds extends KindMap = KindMap> {
  /** From the seed. Draw outside of steps: then leaving one out changes no other. */
  readonly chance: Chance;
  /** Something that a client does: `at('5s', 'pay', () => actor('order/1').send(…))`. */
  readonly at: (when: string | number, name: string, action: () => unknown) => void;
  /** A handle as the client has it; an address without a place is at the first one. */
  readonly actor: <TAddress extends AddressOf<TKinds>>(
    address: TAddress,
  ) => ActorHandle<MachineAt<TKinds, TAddress>>;
  /** As `runtime.spawn`, at whatever place. */
  readonly spawn: <TAddress extends AddressOf<TKinds>>(
    address: TAddress,
    ...options: SpawnArguments<MachineAt<TKinds, TAddress>>
  ) => Promise<ActorHandle<MachineAt<TKinds, TAddress>>>;
}

export type WorkloadOf<TKinds extends KindMap> = (workload: Workload<TKinds>) => void;

export interface WorkloadStep {
  /** Its name; further ones of the same name are `pay #2`. */
  readonly id: string;
  readonly atMs: number;
  readonly action: () => unknown;
}

/** Messages of records that say how a step ended. */
export const STEP_BEGAN = 'step.began';
export const STEP_REFUSED = 'step.refused';
const STEP_THREW = 'step.threw';

/** All steps of a seed. `client`: the runtime that they speak through, once there is one. */
export function stepsOf(
  workload: WorkloadOf<KindMap>,
  seed: number,
  home: string,
  client: () => Runtime<never>,
): readonly WorkloadStep[] {
  const steps: WorkloadStep[] = [];
  const counts = new Map<string, number>();
  const host = hostThrough(client);
  const handleOf = (address: string): never =>
    createHandle(wholeAddress(address, home), host) as never;
  workload({
    chance: new Chance(new SeededRandom(seed, 'workload')),
    at: (when, name, action) => {
      const count = (counts.get(name) ?? 0) + 1;
      counts.set(name, count);
      const id = count === 1 ? name : `${name} #${count}`;
      steps.push({ id, atMs: parseDuration(when), action });
    },
    actor: handleOf,
    spawn: async (address, ...options) => {
      await (client() as unknown as Runtime).spawn(wholeAddress(address, home), ...options);
      return handleOf(address);
    },
  });
  return steps;
}

function hostThrough(client: () => Runtime<never>): HandleHost {
  const host = (): HandleHost => Runtime.hostOf(client());
  return {
    send: (...parts) => host().send(...parts),
    hint: (...parts) => host().hint(...parts),
    ask: (...parts) => host().ask(...parts),
    committed: (address) => host().committed(address),
    persisted: (address) => host().persisted(address),
    fetch: (...parts) => host().fetch(...parts),
    subscribe: (...parts) => host().subscribe(...parts),
    on: (...parts) => host().on(...parts),
  };
}

/** Does it, and writes down how it went. */
export async function carryOut({ id, action }: WorkloadStep, { history }: World): Promise<void> {
  const tell = (message: string, fields: object, level: 'info' | 'error' = 'info'): void =>
    history.add(CLIENT, { type: 'log', level, message, fields: { step: id, ...fields } });
  tell(STEP_BEGAN, {});
  try {
    await action();
  } catch (thrown) {
    if (!(thrown instanceof RuntimeError)) tell(STEP_THREW, { error: messageOf(thrown) }, 'error');
    else if (thrown.code === 'SEALED') throw thrown;
    else tell(STEP_REFUSED, { code: thrown.code, error: thrown.message });
  }
}

export const stepsThrowNothing: Invariant = {
  id: 'STEP',
  kind: 'safety',
  says: 'No step of the workload throws anything but an error of the runtime.',
  watch: (_, verdict) => ({
    log: (record) => {
      if (record.node !== CLIENT) return;
      if (record.message === STEP_BEGAN) verdict.exercised();
      if (record.message !== STEP_THREW) return;
      const { step, error } = record.fields as { readonly step: string; readonly error: string };
      verdict.broken(`Step "${step}" threw: ${error}`, record);
    },
  }),
};
