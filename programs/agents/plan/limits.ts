/**
 * Limits of a plan: `timeouts` and `options`, with what the command line sets before them.
 */

import type { Field } from '../../../reading/field.ts';
import { durationMs } from '../../../runtime/base/duration.ts';
import { excerpt, RuntimeError } from '../../../runtime/base/errors.ts';
import { issuesOf, type OptionTable } from '../../../runtime/base/option.ts';
import { type Argv, readArgv } from './commands.ts';
import { OPTIONS, type Options, TIMEOUTS, type Timeouts } from './words.ts';

export interface Limits {
  readonly timeouts: Timeouts;
  readonly options: Options;
  readonly compactCommand: Argv | null;
}

const AMOUNT = { min: 0, max: Number.MAX_SAFE_INTEGER };
const HUMAN = 'DIVINE_RESPONSE_TIMEOUT';

/** @throws {RuntimeError} OPTION_INVALID for a value that is set and cannot be */
export function readLimits(
  timeouts: Field | undefined,
  options: Field | undefined,
  set: readonly string[],
): Limits {
  const given = setValues(set);
  let compactCommand: Argv | null = null;
  const own = read(options, OPTIONS, {
    compactCommand: (field) => {
      compactCommand = readArgv(field);
    },
  });
  const limits = read(timeouts, TIMEOUTS, {
    [HUMAN]: (field) => {
      const { source } = field;
      const isNone =
        source.kind === 'scalar' && (source.scalar === null || source.scalar === 'None');
      if (!isNone) field.wrong('must be None: a human answer has no time limit');
    },
  });
  return {
    timeouts: { ...defaults(TIMEOUTS), ...limits, ...pick(given, TIMEOUTS) } as Timeouts,
    options: { ...defaults(OPTIONS), ...own, ...pick(given, OPTIONS) } as Options,
    compactCommand,
  };
}

type Others = Readonly<Record<string, (field: Field) => void>>;

function read(field: Field | undefined, table: OptionTable, others: Others): object {
  const good: Record<string, unknown> = {};
  if (field === undefined || field.isNull) return good;
  const keys = Object.fromEntries(
    [...Object.keys(table), ...Object.keys(others)].map((key) => [key, false]),
  );
  for (const [name, each] of Object.entries(field.record(keys) ?? {})) {
    if (each === undefined) continue;
    const other = others[name];
    if (other !== undefined) other(each);
    else {
      const value = isDuration(name) ? each.loose() : each.plain();
      const [issue] = issuesOf({ [name]: value }, table);
      if (issue === undefined) good[name] = value;
      else if (isDuration(name) && typeof value === 'string')
        each.wrong(`must be milliseconds, or such as 15m, got ${excerpt(value)}`);
      else each.wrong(issue.what);
    }
  }
  return good;
}

const defaults = (table: OptionTable): object =>
  Object.fromEntries(Object.entries(table).map(([name, option]) => [name, option.default]));

const pick = (values: Readonly<Record<string, unknown>>, table: OptionTable): object =>
  Object.fromEntries(Object.entries(values).filter(([name]) => Object.hasOwn(table, name)));

function setValues(set: readonly string[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(set.map(readSetting));
}

/** `NAME=VALUE`. @throws {RuntimeError} OPTION_INVALID */
export function readSetting(text: string): readonly [name: string, value: unknown] {
  const table: OptionTable = { ...TIMEOUTS, ...OPTIONS };
  const [, name = '', given = ''] = /^([^=]*)=(.*)$/s.exec(text) ?? [];
  const value = readValue(name, given);
  const [issue] =
    given === ''
      ? [{ sentence: `${excerpt(text)} is not NAME=VALUE` }]
      : issuesOf({ [name]: value }, table);
  if (issue !== undefined) throw new RuntimeError('OPTION_INVALID', `${issue.sentence}.`);
  return [name, value];
}

/** A text as a plan would have it. */
function readValue(name: string, text: string): unknown {
  if (text === 'true' || text === 'false') return text === 'true';
  if (text === 'none' || text === 'null') return null;
  if (/^\d+$/.test(text)) return Number(text);
  return (isDuration(name) ? durationMs(text) : undefined) ?? text;
}

const isDuration = (name: string): boolean => /(?:_TIMEOUT|_INTERVAL|Ms)$/.test(name);

/** Limits as code gives them, by the keys of a plan. */
const CODE_NAMES = {
  agentTimeoutMs: 'AGENT_TIMEOUT',
  checkpointIntervalMs: 'CHECKPOINT_INTERVAL',
  checkpointTimeoutMs: 'CHECKPOINT_TIMEOUT',
  delegationTimeoutMs: 'DELEGATION_TIMEOUT',
  stallThreshold: 'STALL_THRESHOLD',
  timeoutEscalation: 'TIMEOUT_ESCALATION',
  contextThreshold: 'CONTEXT_THRESHOLD',
  sessionThreshold: 'SESSION_THRESHOLD',
  idleTimeoutMs: 'IDLE_TIMEOUT',
} as const satisfies Readonly<Record<string, keyof Timeouts>>;

export type CodeLimits = { readonly [name in keyof typeof CODE_NAMES]?: number };

/** The same as texts of `--set`. @throws {RuntimeError} OPTION_INVALID */
export function settingsOf(limits: CodeLimits): readonly string[] {
  return Object.entries(CODE_NAMES).flatMap(([name, key]) => {
    const value = limits[name as keyof CodeLimits];
    if (value === undefined) return [];
    const [issue] = issuesOf({ [name]: value }, { [name]: TIMEOUTS[key] });
    if (issue !== undefined) throw new RuntimeError('OPTION_INVALID', `${issue.sentence}.`);
    return [`${key}=${value}`];
  });
}

/** Counters by name: tokens, cost. */
export function amountsOf(field: Field | undefined): Readonly<Record<string, number>> {
  const entries = field?.entries() ?? [];
  return Object.fromEntries(entries.map(([name, each]) => [name, each.number(AMOUNT) ?? 0]));
}
