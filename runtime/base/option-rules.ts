/**
 * Rules for the options of one call: their names, and the values that each may have.
 *
 * An unknown name is refused with the name that was probably meant: a misspelt store is no store at
 * all, and its process would find that out when its data is gone.
 */

import { excerpt, RuntimeError } from './errors.ts';
import { findLikelyOf } from './suggestion.ts';

export interface OptionRule {
  /** Words that follow "must be". */
  readonly must: string;
  allows(value: unknown): boolean;
}

export type OptionRules = Readonly<Record<string, OptionRule>>;

/** Checked elsewhere, in words of its own. */
export const ANYTHING: OptionRule = { must: 'anything', allows: () => true };
export const FLAG: OptionRule = {
  must: 'true or false',
  allows: (value) => typeof value === 'boolean',
};
export const FUNCTION: OptionRule = {
  must: 'a function',
  allows: (value) => typeof value === 'function',
};
export const TEXTS: OptionRule = {
  must: 'a list of texts',
  allows: (value) => Array.isArray(value) && value.every((each) => typeof each === 'string'),
};
export const OBJECT: OptionRule = { must: 'an object', allows: isObject };

/** An implementation of a port: an object that has these methods. */
export function port(must: string, ...methods: readonly string[]): OptionRule {
  const allows = (value: unknown): boolean =>
    isObject(value) && methods.every((method) => typeof value[method] === 'function');
  return { must, allows };
}

/** Checks all of them; `whose` begins the message. @throws {RuntimeError} OPTION_INVALID */
export function checkOptions(whose: string, options: unknown, rules: OptionRules): void {
  const wrong = wrongOf(options, rules);
  if (wrong !== undefined) throw new RuntimeError('OPTION_INVALID', `${whose}: ${wrong}.`);
}

/** The first option that is none or makes no sense, in words. */
export function wrongOf(options: unknown, rules: OptionRules): string | undefined {
  if (!isObject(options)) return `options must be an object, got ${excerpt(options)}`;
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(rules, name)) return describeUnknown(name, Object.keys(rules));
    const { must, allows } = rules[name] as OptionRule;
    if (value !== undefined && !allows(value))
      return `"${name}" must be ${must}, got ${excerpt(value)}`;
  }
  return undefined;
}

/** Words about a name that is none of those known. */
function describeUnknown(name: string, known: readonly string[]): string {
  const likely = findLikelyOf(name, known);
  const hint = likely === undefined ? `known: ${known.join(', ')}` : `did you mean "${likely}"`;
  return `there is no option ${excerpt(name)}; ${hint}`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
