/**
 * Words and numbers as the page shows them: durations, moments, counts, states, addresses.
 */

import { oneLine } from '../../drawing/text.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A duration of two units at most: `1.4 s`, `3 min 20 s`, `2 h 5 min`. */
export function duration(ms: number): string {
  const size = Math.abs(ms);
  if (size < 10) return `${Math.round(size * 10) / 10} ms`;
  if (size < SECOND) return `${Math.round(size)} ms`;
  if (size < 10 * SECOND) return `${(size / SECOND).toFixed(1)} s`;
  if (size < MINUTE) return `${Math.floor(size / SECOND)} s`;
  if (size < HOUR) return twoUnits(size, MINUTE, 'min', SECOND, 's');
  if (size < DAY) return twoUnits(size, HOUR, 'h', MINUTE, 'min');
  return twoUnits(size, DAY, 'd', HOUR, 'h');
}

function twoUnits(ms: number, large: number, one: string, small: number, other: string): string {
  const rest = Math.floor((ms % large) / small);
  return rest === 0
    ? `${Math.floor(ms / large)} ${one}`
    : `${Math.floor(ms / large)} ${one} ${rest} ${other}`;
}

/** Time left until a deadline, of a width that does not jump: `9.8 s`, `1:05`, `2:05:10`, or how late it is. */
export function countdown(dueAt: number, at: number): string {
  const ms = dueAt - at;
  if (ms < 0) return `late ${duration(ms)}`;
  if (ms < MINUTE) return `${(ms / SECOND).toFixed(1)} s`;
  const seconds = two(Math.floor((ms % MINUTE) / SECOND));
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)}:${seconds}`;
  const minutes = two(Math.floor((ms % HOUR) / MINUTE));
  if (ms < DAY) return `${Math.floor(ms / HOUR)}:${minutes}:${seconds}`;
  return duration(ms);
}

export function ago(at: number, present: number): string {
  const ms = present - at;
  return ms < SECOND ? 'just now' : `${duration(Math.floor(ms / SECOND) * SECOND)} ago`;
}

const two = (value: number): string => String(value).padStart(2, '0');

/** Moment from which a simulated run counts; undefined where moments are of a calendar. */
let zero: number | undefined;

export function countFrom(moment: number | undefined): void {
  zero = moment;
}

/** Time of day with milliseconds in the reader's time zone, or the time since a simulated run began. */
export function timeOfDay(at: number): string {
  if (zero !== undefined) return sinceZero(at - zero);
  const date = new Date(at);
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${String(date.getMilliseconds()).padStart(3, '0')}`;
}

/** The same without milliseconds. */
export const clockTime = (at: number): string => timeOfDay(at).replace(/\.\d+$/, '');

/** Without hours: for marks that are close to each other. */
export const shortTime = (at: number): string => timeOfDay(at).replace(/^(-?)\d+:/, '$1');

function sinceZero(ms: number): string {
  const size = Math.abs(Math.round(ms));
  const part = (unit: number, of: number): string => two(Math.floor(size / unit) % of);
  const hours = two(Math.floor(size / HOUR));
  const rest = String(size % SECOND).padStart(3, '0');
  return `${ms < 0 ? '-' : ''}${hours}:${part(MINUTE, 60)}:${part(SECOND, 60)}.${rest}`;
}

/** Sentence of an explanation, which has its moments in UTC, with them as the page writes moments; `near` is half a day from them at most. */
export function withMoments(text: string, near: number): string {
  return plain(text).replace(
    /\b(\d\d):(\d\d):(\d\d)\.(\d{3})\b/g,
    (_, hours: string, minutes: string, seconds: string, ms: string) => {
      const ofDay =
        (Number(hours) * 60 + Number(minutes)) * MINUTE + Number(seconds) * SECOND + Number(ms);
      return timeOfDay(Math.round((near - ofDay) / DAY) * DAY + ofDay);
    },
  );
}

/** The moment in full, for those who rest the pointer on it. */
export function moment(at: number): string {
  if (zero !== undefined) return `${timeOfDay(at)} of the simulated run`;
  const date = new Date(at);
  return `${date.toLocaleDateString()} ${timeOfDay(at)} (${date.toISOString()})`;
}

const NUMBERS = new Intl.NumberFormat('en-GB');
export const count = (value: number): string => NUMBERS.format(value);

export function counted(value: number, noun: string): string {
  return `${count(value)} ${value === 1 ? noun : `${noun}s`}`;
}

export function bytes(value: number): string {
  if (value < 1_024) return `${value} B`;
  if (value < 1_048_576) return `${(value / 1_024).toFixed(1)} KiB`;
  return `${(value / 1_048_576).toFixed(1)} MiB`;
}

/** Text of users on one line, without marks that would turn what follows. */
export const plain = oneLine;

/** Name of a state of a run in words: `awaiting human`, `retry wait`. */
export const wordsOf = (state: string): string =>
  plain(state)
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .replace('dlq', 'failed, kept');

/** Leaves of a state value as text: `active.phase.running · active.authority.leading`. */
function stateLeaves(state: string): readonly string[] {
  if (!state.startsWith('{')) return [plain(state)];
  try {
    return leaves(JSON.parse(state), '').map(plain);
  } catch {
    return [plain(state)];
  }
}

/**
 * The state in few words: of a parallel one the state around its regions, then each region with its state. Regions
 * that have no states say nothing.
 */
export function stateText(state: string): string {
  const all = stateLeaves(state);
  if (all.length < 2) return all[0] ?? '';
  const common = commonStart(all);
  const rest = all.map((leaf) => leaf.slice(common.length).replace(/^\./, ''));
  const told = rest.filter((leaf) => leaf.includes('.'));
  const words = (told.length > 0 ? told : rest).map((leaf) => leaf.split('.').slice(-2).join(' '));
  return `${common === '' ? '' : `${common}: `}${words.join(' · ')}`;
}

/** The end of a state's path, which says most: two names of it. */
export function stateEnd(path: string): string {
  const keys = path.split('.');
  return plain(keys.slice(-2).join('.'));
}

function leaves(value: unknown, around: string): string[] {
  const below = (key: string): string => (around === '' ? key : `${around}.${key}`);
  if (typeof value === 'string') return [below(value)];
  const inner = Object.entries((value ?? {}) as Record<string, unknown>);
  return inner.length === 0
    ? [around]
    : inner.flatMap(([key, deeper]) => leaves(deeper, below(key)));
}

function commonStart(paths: readonly string[]): string {
  const [first = '', ...rest] = paths.map((path) => path.split('.'));
  const keys = Array.isArray(first) ? first : [];
  const shared = keys.findIndex((key, index) => rest.some((path) => path[index] !== key));
  return keys.slice(0, shared < 0 ? keys.length - 1 : shared).join('.');
}

export interface AddressParts {
  readonly kind: string;
  readonly key: string;
  readonly place: string;
}

export function addressParts(address: string): AddressParts {
  const slash = address.indexOf('/');
  const at = address.lastIndexOf('@');
  const end = at < slash ? address.length : at;
  return {
    kind: address.slice(0, Math.max(0, slash)),
    key: address.slice(slash + 1, end),
    place: at < slash ? '' : address.slice(at + 1),
  };
}
