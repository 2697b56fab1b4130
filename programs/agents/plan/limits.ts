/**
 * Limits of a plan: `timeouts` and `options`, with what the command line sets before them.
 */

import type { Field } from '../../../reading/field.ts';
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
      const { kind } = table[name] as OptionTable[string];
      const value = kind === 'flag' ? each.plain() : each.loose();
      const [issue] = issuesOf({ [name]: value }, table);
      if (issue === undefined) good[name] = value;
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
  const table: OptionTable = { ...TIMEOUTS, ...OPTIONS };
  const values: Record<string, unknown> = {};
  for (const each of set) {
    const [, name = '', text = ''] = /^([^=]*)=(.*)$/s.exec(each) ?? [];
    const value = text === 'true' || text === 'false' ? text === 'true' : Number(text);
    const [issue] =
      text === ''
        ? [{ sentence: `${excerpt(each)} is not NAME=VALUE.` }]
        : issuesOf({ [name]: value }, table);
    if (issue !== undefined) throw new RuntimeError('OPTION_INVALID', `--set ${issue.sentence}`);
    values[name] = value;
  }
  return values;
}

/** Counters by name: tokens, cost. */
export function amountsOf(field: Field | undefined): Readonly<Record<string, number>> {
  const entries = field?.entries() ?? [];
  return Object.fromEntries(entries.map(([name, each]) => [name, each.number(AMOUNT) ?? 0]));
}
