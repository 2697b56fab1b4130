/**
 * Options as tables: a row says what an option may be, what it is unless told, and what it does.
 *
 * Types, checks, messages, suggestions and documents follow from the row. Values of a file are read by such
 * a table as well (`reading/field.ts`), with the same words.
 */

import { excerpt, RuntimeError } from './errors.ts';
import { closest } from './suggestion.ts';

/** A whole number; milliseconds where its name ends in `Ms`. */
export interface WholeOption {
  readonly kind: 'whole';
  readonly default: number;
  readonly min: number;
  readonly max: number;
}

/** A whole number, or null with a meaning of its own. */
export interface NullableOption {
  readonly kind: 'nullable';
  readonly default: number | null;
  readonly min: number;
  readonly max: number;
}

export interface ChoiceOption<TChoice extends string = string> {
  readonly kind: 'choice';
  readonly default: TChoice;
  readonly choices: readonly TChoice[];
}

export interface FlagOption {
  readonly kind: 'flag';
  readonly default: boolean;
}

export type Option = (WholeOption | NullableOption | ChoiceOption | FlagOption) & {
  /** One sentence for the documents. */
  readonly meaning?: string;
  /** Name under which other sources have it; it leads here. */
  readonly sourceName?: string;
};

export type OptionTable = Readonly<Record<string, Option>>;

/** What is wrong with an option, or with several together. */
export interface OptionIssue {
  readonly names: readonly string[];
  /** Follows the path of the option. */
  readonly what: string;
  /** The same by itself. */
  readonly sentence: string;
}

/** What has to hold between options. */
export interface OptionRelation<TOptions> {
  readonly names: ReadonlyArray<keyof TOptions & string>;
  /** Begins with a small letter, and has no stop. */
  readonly text: string;
  holds(options: TOptions): boolean;
}

/** Issues that one error tells of. */
const TOLD_MAX = 10;

/**
 * Fills in the defaults; an option that is given as `undefined` counts as left out. `whose` names them in
 * messages: `of sockets`.
 *
 * @throws {RuntimeError} OPTION_INVALID, with every issue in its message, at most ten of them.
 */
export function resolveOptions<TOptions extends object>(
  given: Partial<TOptions>,
  table: OptionTable,
  relations: ReadonlyArray<OptionRelation<TOptions>> = [],
  whose = '',
): TOptions {
  const resolved = completed<TOptions>(given, table);
  const issues = issuesOf(given, table);
  const wrong = new Set(issues.flatMap(({ names }) => names));
  issues.push(...brokenRelations(resolved, relations, wrong));
  if (issues.length === 0) return resolved;
  const told = issues.slice(0, TOLD_MAX).map(({ sentence }) => sentence + endOf(sentence));
  if (issues.length > told.length) told.push(`And ${issues.length - told.length} more.`);
  throw new RuntimeError('OPTION_INVALID', whose + told.join(' '));
}

/** The options with their defaults, unchecked. */
export function completed<TOptions>(given: object, table: OptionTable): TOptions {
  const values = Object.entries(table).map(([name, option]) => {
    const value = Object.hasOwn(given, name) ? given[name as keyof typeof given] : undefined;
    return [name, value === undefined ? option.default : value];
  });
  return Object.fromEntries(values);
}

/** Issues of options together. A relation is looked at only where each of its options is legal by itself. */
export function brokenRelations<TOptions>(
  options: TOptions,
  relations: ReadonlyArray<OptionRelation<TOptions>>,
  wrong: ReadonlySet<string> = new Set(),
): OptionIssue[] {
  const broken = relations.filter(
    ({ names, holds }) => !names.some((name) => wrong.has(name)) && !holds(options),
  );
  return broken.map(({ names, text }) => {
    const values = names.map((name) => `"${name}" is ${options[name]}`);
    const sentence = `${text.charAt(0).toUpperCase()}${text.slice(1)}: ${values.slice(0, -1).join(', ')} and ${values.at(-1)}`;
    return { names, what: sentence, sentence };
  });
}

/** Issues of what was given: names that are no options, and values that may not be. */
export function issuesOf(given: object, table: OptionTable): OptionIssue[] {
  return Object.entries(given).flatMap(([name, value]) => {
    const option = Object.hasOwn(table, name) ? table[name] : undefined;
    if (option === undefined) {
      const hint = hintOf(name, table);
      const sentence = `There is no option ${excerpt(name)}${hint}`;
      return [{ names: [name], what: `there is no such option${hint}`, sentence }];
    }
    if (value === undefined || isLegal(option, value)) return [];
    const what = `must be ${legalText(option)}, got ${givenText(value)}`;
    return [{ names: [name], what, sentence: `"${name}" ${what}` }];
  });
}

/** Stop of a sentence that is no question. */
function endOf(sentence: string): string {
  return sentence.endsWith('?') ? '' : '.';
}

function isLegal(option: Option, value: unknown): boolean {
  switch (option.kind) {
    case 'whole':
      return isWithin(option, value);
    case 'nullable':
      return value === null || isWithin(option, value);
    case 'choice':
      return typeof value === 'string' && option.choices.includes(value);
    case 'flag':
      return typeof value === 'boolean';
  }
}

/** Follows "must be". */
function legalText(option: Option): string {
  switch (option.kind) {
    case 'whole':
      return `a whole number ${rangeText(option)}`;
    case 'nullable':
      return `null or a whole number ${rangeText(option)}`;
    case 'choice':
      return `one of ${option.choices.map((one) => `"${one}"`).join(', ')}`;
    case 'flag':
      return 'true or false';
  }
}

/** Digits in groups of three, as in the documentation. */
export function rangeText({ min, max }: { min: number; max: number }, unit = ''): string {
  const from = min.toLocaleString('en-GB');
  if (max === Number.MAX_SAFE_INTEGER) return `of at least ${from}${unit}`;
  return `from ${from} to ${max.toLocaleString('en-GB')}${unit}`;
}

/** Suggestion for a name that is no option, or nothing. */
function hintOf(name: string, table: OptionTable): string {
  const likely = likelyOption(name, table);
  return likely === undefined ? '' : `; did you mean "${likely}"?`;
}

/** The option that is probably meant by a name that is none; its name in other sources counts too. */
export function likelyOption(name: string, table: OptionTable): string | undefined {
  const spellings = Object.entries(table).flatMap(([known, { sourceName }]) =>
    [known, sourceName ?? known].map((spelling) => [spelling, known] as const),
  );
  return closest(name, spellings);
}

function isWithin({ min, max }: { min: number; max: number }, value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max;
}

/** Numbers as they are: JSON has no word for NaN and Infinity. */
function givenText(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  if (typeof value === 'string') return excerpt(value);
  if (value === null || typeof value === 'boolean') return String(value);
  return Array.isArray(value) ? 'a list' : `something of type ${typeof value}`;
}

/** A table of whole numbers from their defaults; each is at least 1, unless `ranges` says otherwise. */
export function wholeNumbers<TLimits extends object>(
  defaults: TLimits,
  ranges: {
    readonly [name in keyof TLimits]?: { readonly min?: number; readonly max?: number };
  } = {},
): { readonly [name in keyof TLimits]: WholeOption } {
  const rows = Object.entries(defaults).map(([name, value]) => {
    const range = { min: 1, max: Number.MAX_SAFE_INTEGER, ...ranges[name as keyof TLimits] };
    return [name, { kind: 'whole', default: value, ...range }];
  });
  return Object.fromEntries(rows);
}
