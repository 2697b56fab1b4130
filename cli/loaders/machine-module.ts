/**
 * Loads one machine of a user's module, with what the module says about testing it.
 *
 * A module may export `samples` ({ inputs, events, outputs }), `invariants` (functions of a snapshot, by
 * name), `validate` (validators by event type), `unreachable` (reasons by the name of what nothing reaches) and `driver` (a function that makes a
 * driver). Several machines need `--machine`.
 */

import { statSync } from 'node:fs';
import { extname, resolve } from 'node:path';
import type { AnyStateMachine } from 'xstate';
import { messageOf } from '../../runtime/base/errors.ts';
import { findLikelyOf } from '../../runtime/base/suggestion.ts';
import type { Unreachable } from '../../testing/model/coverage.ts';
import type { DriverFactory } from '../../testing/model/driver.ts';
import type { Invariant } from '../../testing/model/live.ts';
import type { GivenSamples } from '../../testing/model/samples.ts';
import { CommandFailure, EXIT } from '../exit.ts';
import { type Exported, importModule } from './module-file.ts';

const EXTENSIONS = new Set(['.js', '.mjs', '.cjs', '.ts', '.mts']);
/** A module that waits for ever as it is loaded is no module. */
const LOADING_MAX_MS = 30_000;

export interface MachineModule {
  readonly name: string;
  readonly machine: AnyStateMachine;
  readonly samples: GivenSamples;
  readonly invariants: Readonly<Record<string, Invariant>>;
  readonly driver: DriverFactory | undefined;
  readonly unreachable: Unreachable;
}

/** @throws {CommandFailure} that says what is wrong with the file. */
export async function loadMachine(
  path: string,
  wanted: string | undefined,
  driverPath: string | undefined,
): Promise<MachineModule> {
  const exported = await load(path);
  const [name, machine] = chosen(path, exported, wanted);
  const own = driverPath === undefined ? exported : await load(driverPath);
  const { driver } = own;
  if (driverPath !== undefined && typeof driver !== 'function')
    throw failure(driverPath, 'It must export "driver", a function that makes a driver.');
  return {
    name,
    machine,
    samples: {
      validate: objectAt(path, exported, 'validate'),
      ...objectAt(path, exported, 'samples'),
    } as GivenSamples,
    invariants: objectAt(path, exported, 'invariants') as MachineModule['invariants'],
    unreachable: objectAt(path, exported, 'unreachable') as Unreachable,
    driver: typeof driver === 'function' ? (driver as DriverFactory) : undefined,
  };
}

const failure = (path: string, what: string, cause?: unknown): CommandFailure =>
  new CommandFailure(EXIT.badData, `${path}: ${what}`, { cause });

async function load(path: string): Promise<Exported> {
  const file = resolve(path);
  if (!statSync(file).isFile()) throw failure(path, 'It is not a file.');
  if (!EXTENSIONS.has(extname(file))) throw failure(path, 'A module is a .js, .mjs or .ts file.');
  let timer: NodeJS.Timeout | undefined;
  const tooLong = new Promise<never>((_, reject) => {
    const why = `It did not load within ${LOADING_MAX_MS / 1_000} s: something at its top level waits for ever.`;
    timer = setTimeout(() => reject(new Error(why)), LOADING_MAX_MS);
  });
  try {
    return await Promise.race([importModule(file), tooLong]);
  } catch (thrown) {
    throw failure(path, messageOf(thrown), thrown);
  } finally {
    clearTimeout(timer);
  }
}

/** The machine that is meant, and its name. */
function chosen(
  path: string,
  exported: Exported,
  wanted: string | undefined,
): readonly [string, AnyStateMachine] {
  const machines = machinesIn(exported);
  const names = [...machines.keys()];
  if (names.length === 0)
    throw failure(path, 'It exports no machine: export one made by XState, under any name.');
  if (wanted === undefined) {
    const [first, ...others] = machines;
    if (first !== undefined && others.length === 0) return first;
    const list = names.join(', ');
    throw new CommandFailure(
      EXIT.usage,
      `${path} exports ${names.length} machines: say which with --machine <name>. They are: ${list}.`,
    );
  }
  const machine = machines.get(wanted);
  if (machine !== undefined) return [wanted, machine];
  const near = findLikelyOf(wanted, names);
  const meant = near === undefined ? '' : ` Did you mean "${near}"?`;
  throw new CommandFailure(
    EXIT.usage,
    `--machine ${wanted}: ${path} has no such machine.${meant} It has: ${names.join(', ')}.`,
  );
}

/** Machines by the name of their export, or by their kind; the same machine counts once. */
function machinesIn({ default: main, kinds, ...named }: Exported): Map<string, AnyStateMachine> {
  const machines = new Map<string, AnyStateMachine>();
  const seen = new Set<unknown>();
  const add = (name: string, value: unknown): void => {
    const machine = isMachine(value) ? value : (value as { readonly machine?: unknown })?.machine;
    if (!isMachine(machine) || seen.has(machine)) return;
    seen.add(machine);
    machines.set(name, machine);
  };
  for (const [name, value] of Object.entries(named)) add(name, value);
  for (const [name, value] of Object.entries((kinds ?? {}) as object)) add(name, value);
  if (isMachine(main)) add(main.id, main);
  else for (const [name, value] of Object.entries((main ?? {}) as object)) add(name, value);
  return machines;
}

const isMachine = (value: unknown): value is AnyStateMachine =>
  typeof value === 'object' &&
  value !== null &&
  'provide' in value &&
  'transition' in value &&
  'root' in value;

function objectAt(path: string, exported: Exported, name: string): object {
  const value = exported[name] ?? {};
  if (typeof value === 'object' && !Array.isArray(value)) return value;
  throw failure(path, `Its export "${name}" must be an object.`);
}
