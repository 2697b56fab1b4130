/**
 * Check of everything that `register` is given, before anything is kept of it. The meaning of the options is
 * in kind.ts.
 */

import type { AnyStateMachine } from 'xstate';
import { excerpt } from '../base/errors.ts';
import {
  ANYTHING,
  FLAG,
  FUNCTION,
  OBJECT,
  type OptionRule,
  type OptionRules,
  TEXTS,
  wrongOf,
} from '../base/option-rules.ts';
import { SPAWN_EVENT } from '../machine.ts';
import type { DurablePerformer, KindOptions } from './kind.ts';
import { DEFAULT_SUPERVISION } from './supervision-options.ts';

const RULES: Required<{ readonly [name in keyof KindOptions]: OptionRule }> = {
  version: ANYTHING,
  perform: OBJECT,
  migrate: OBJECT,
  validate: OBJECT,
  admit: FUNCTION,
  absent: FUNCTION,
  openToClients: FLAG,
  livesOnce: FLAG,
  forgetsInput: FLAG,
  supervise: OBJECT,
  rank: FUNCTION,
  charts: FUNCTION,
  ties: ANYTHING,
  newWork: TEXTS,
  questions: OBJECT,
};

/** Names of these options; their values are checked below. */
const SUPERVISION_RULES: OptionRules = Object.fromEntries(
  Object.keys(DEFAULT_SUPERVISION).map((name) => [name, ANYTHING]),
);

const PERFORMER_RULES: Required<{ readonly [name in keyof DurablePerformer]: OptionRule }> = {
  run: ANYTHING,
  durable: FLAG,
  attemptsMax: ANYTHING,
};

/** The first thing about a kind that makes no sense. */
export function wrongOption(
  name: string,
  machine: unknown,
  options: KindOptions,
): string | undefined {
  const unknown =
    wrongOf(options, RULES) ?? (options.supervise && wrongOf(options.supervise, SUPERVISION_RULES));
  if (unknown !== undefined) return unknown;
  const { version = 1, supervise, ties = 'messages', forgetsInput } = options;
  const { onFailure, failuresMax, withinMs, pauseMinMs, pauseMaxMs, attemptsMax } = {
    ...DEFAULT_SUPERVISION,
    ...supervise,
  };
  const isCount = (value: unknown, min: number) =>
    Number.isSafeInteger(value) && (value as number) >= min;
  const isAttempts = (value: unknown) => value === Number.POSITIVE_INFINITY || isCount(value, 1);
  const isCallable = (value: unknown) => typeof value === 'function';
  // Answers go to `ask/…`.
  if (name === 'ask') return 'the runtime has this name for itself';
  if (typeof (machine as AnyStateMachine | null)?.provide !== 'function')
    return `a machine is what createMachine returns, got ${excerpt(machine)}`;
  if (!isCount(version, 1)) return `version must be a positive integer, got ${version}`;
  if (!['skip', 'restart', 'stop'].includes(onFailure))
    return `supervise.onFailure is skip, restart or stop, got ${excerpt(onFailure)}`;
  if (onFailure === 'restart' && forgetsInput === true)
    return 'a kind with supervise.onFailure restart begins again from its input: leave out forgetsInput';
  if (!isCount(failuresMax, 0)) return `supervise.failuresMax must be an integer of 0 or more`;
  if (!isCount(withinMs, 1)) return `supervise.withinMs must be a positive integer`;
  if (!isAttempts(attemptsMax))
    return 'supervise.attemptsMax must be a positive integer, or Infinity';
  if (!isCount(pauseMinMs, 1) || !isCount(pauseMaxMs, pauseMinMs))
    return 'supervise.pauseMinMs and pauseMaxMs must be positive integers, the first not above the second';
  if (ties !== 'messages' && ties !== 'timers')
    return `ties is messages or timers, got ${excerpt(ties)}`;
  for (const [action, performer] of Object.entries(options.perform ?? {})) {
    const { run, attemptsMax: performerMax = 1 } = isCallable(performer)
      ? { run: performer }
      : ((performer ?? {}) as Partial<DurablePerformer>);
    const wrong = isCallable(performer) ? undefined : wrongOf(performer, PERFORMER_RULES);
    if (wrong !== undefined) return `performer "${action}": ${wrong}`;
    if (!isCallable(run)) return `performer "${action}" is a function, or has one called "run"`;
    if (!isAttempts(performerMax))
      return `attemptsMax of "${action}" must be a positive integer, or Infinity`;
  }
  for (const [type, performer] of Object.entries(options.questions ?? {})) {
    const { perform = {} } = options;
    const isOnce = Object.hasOwn(perform, performer) && isCallable(perform[performer]);
    if (type === SPAWN_EVENT || !isOnce)
      return `questions["${type}"] names a performer that is a function, got ${excerpt(performer)}`;
  }
  for (const [step, migrate] of Object.entries(options.migrate ?? {}))
    if (!isCallable(migrate)) return `migrate[${step}] is a function`;
  for (const [type, schema] of Object.entries(options.validate ?? {}))
    if (!isCallable(schema?.['~standard']?.validate))
      return `the validator of "${type}" follows standardschema.dev`;
  return undefined;
}
