/**
 * Checks of a configuration: for each mistake, in words, the keys, the value that was given, and
 * what is legal.
 *
 * Guarantees: nothing is changed and nothing is guessed. A relation between two options is
 * looked at only where both are legal by themselves, so one mistake is told once.
 */

import { excerpt } from '../../../runtime/base/errors.ts';
import {
  JOBS_OPTIONS,
  type JobsConfiguration,
  type JobsOption,
  type JobsOptionName,
} from './options.ts';
import { findLikelyName } from './suggestion.ts';

/** Mistakes in what was given; `complete` is the same with the defaults filled in. */
export function findMistakes(given: object, complete: JobsConfiguration): string[] {
  const mistakes: string[] = [];
  const wrong = new Set<string>();
  for (const [name, value] of Object.entries(given)) {
    const mistake = isOptionName(name) ? findMistake(name, value) : describeUnknown(name);
    if (mistake === undefined) continue;
    mistakes.push(mistake);
    wrong.add(name);
  }
  for (const relation of RELATIONS) {
    if (relation.names.some((name) => wrong.has(name))) continue;
    if (!relation.holds(complete)) mistakes.push(describeRelation(relation, complete));
  }
  return mistakes;
}

/** Describes what an option may be, for people. */
function describeLegal(option: JobsOption): string {
  switch (option.kind) {
    case 'whole':
      return `a whole number from ${shown(option.min)} to ${shown(option.max)}`;
    case 'nullable':
      return `null or a whole number from ${shown(option.min)} to ${shown(option.max)}`;
    case 'choice':
      return `one of ${option.choices.map((one) => `"${one}"`).join(', ')}`;
    case 'flag':
      return 'true or false';
  }
}

function isOptionName(name: string): name is JobsOptionName {
  return Object.hasOwn(JOBS_OPTIONS, name);
}

function findMistake(name: JobsOptionName, value: unknown): string | undefined {
  const option: JobsOption = JOBS_OPTIONS[name];
  if (value === undefined || isLegal(option, value)) return undefined;
  return `"${name}" must be ${describeLegal(option)}, got ${describeGiven(value)}.`;
}

function isLegal(option: JobsOption, value: unknown): boolean {
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

function isWithin({ min, max }: { min: number; max: number }, value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max;
}

function describeUnknown(name: string): string {
  const likely = findLikelyName(name);
  const suggestion = likely === undefined ? '' : ` Did you mean "${likely}"?`;
  return `There is no option ${excerpt(name)}.${suggestion}`;
}

/** Numbers as they are: JSON has no word for NaN and Infinity. */
function describeGiven(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  if (typeof value === 'string') return excerpt(value);
  if (value === null || typeof value === 'boolean') return String(value);
  return Array.isArray(value) ? 'a list' : `something of type ${typeof value}`;
}

/** Digits in groups of three, as in the documentation. */
function shown(value: number): string {
  return value.toLocaleString('en-GB');
}

interface Relation {
  readonly names: readonly [JobsOptionName, JobsOptionName, ...JobsOptionName[]];
  /** Reason for which it has to hold. */
  readonly text: string;
  holds(configuration: JobsConfiguration): boolean;
}

const RELATIONS: readonly Relation[] = [
  {
    names: ['reportIntervalMs', 'stuckThresholdMs'],
    text: '"reportIntervalMs" must not be above "stuckThresholdMs"',
    holds: (given) => given.reportIntervalMs <= given.stuckThresholdMs,
  },
  {
    names: ['gateFallbackMs', 'checkIntervalMs'],
    text: '"gateFallbackMs" must not be below "checkIntervalMs"',
    holds: (given) => given.gateFallbackMs >= given.checkIntervalMs,
  },
  {
    names: ['gateFallbackMs', 'gateCheckIntervalMs'],
    text: '"gateFallbackMs" must not be below "gateCheckIntervalMs"',
    holds: (given) => given.gateFallbackMs >= given.gateCheckIntervalMs,
  },
  {
    names: ['minGrantMs', 'baseDeadlineMs'],
    text: '"minGrantMs" must not be above "baseDeadlineMs"',
    holds: (given) => given.minGrantMs <= given.baseDeadlineMs,
  },
  {
    names: ['heartbeatIntervalMs', 'baseDeadlineMs'],
    text: 'twice "heartbeatIntervalMs" must not be above "baseDeadlineMs"',
    holds: (given) => 2 * given.heartbeatIntervalMs <= given.baseDeadlineMs,
  },
  {
    names: ['silentAfterMs', 'reportIntervalMs'],
    text: '"silentAfterMs" must not be below twice "reportIntervalMs"',
    holds: (given) => given.silentAfterMs >= 2 * given.reportIntervalMs,
  },
  {
    names: ['leaseRenewMs', 'leaseMarginMs', 'leaseMs'],
    text: 'twice "leaseRenewMs" and "leaseMarginMs" together must be below "leaseMs"',
    holds: (given) => 2 * given.leaseRenewMs + given.leaseMarginMs < given.leaseMs,
  },
  {
    names: ['dispatchBackoffMinMs', 'dispatchBackoffMaxMs'],
    text: '"dispatchBackoffMinMs" must not be above "dispatchBackoffMaxMs"',
    holds: (given) => given.dispatchBackoffMinMs <= given.dispatchBackoffMaxMs,
  },
  {
    names: ['dedupRetentionMs', 'jobRetentionMs'],
    text: '"dedupRetentionMs" must not be above "jobRetentionMs"',
    holds: (given) => (given.dedupRetentionMs ?? 0) <= given.jobRetentionMs,
  },
];

function describeRelation(relation: Relation, complete: JobsConfiguration): string {
  const values = relation.names.map((name) => `"${name}" is ${complete[name]}`);
  const said = relation.text.charAt(0).toUpperCase() + relation.text.slice(1);
  return `${said}: ${values.slice(0, -1).join(', ')} and ${values.at(-1)}.`;
}
