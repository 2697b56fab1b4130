/**
 * Layers of settings: their sources on top of each other, flags above the environment, above the file,
 * above the defaults.
 *
 * Guarantees: of every value it is known where it comes from, and a value of one source replaces
 * the whole value of another: lists are not joined. Nothing is checked here but that a default
 * is there for what can have one.
 */

import { dirname, resolve } from 'node:path';
import { JOBS_OPTIONS } from '../../programs/jobs/configuration/options.ts';
import type { ConfigurationFile } from './configuration-file.ts';
import type { Origin } from './origin.ts';
import { type Role, SETTINGS } from './settings.ts';
import { VARIABLES } from './variables.ts';

export interface Sources {
  readonly role: Role;
  readonly file?: (ConfigurationFile & { readonly path: string }) | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Flags by path of the setting; a text is read as the setting wants it. */
  readonly flags: Readonly<Record<string, Given>>;
  /** `path=value` of `--set`. */
  readonly assignments?: readonly string[];
  /** Relative paths of flags and of the environment begin here. */
  readonly cwd: string;
  /** Processors of the machine. */
  readonly processors: number;
}

export type Given = string | boolean | readonly string[];

export interface Layered {
  readonly values: Record<string, unknown>;
  readonly origins: Map<string, Origin>;
  /** Values that cannot be anywhere, because of their names or of what is there. */
  readonly misplaced: ReadonlyArray<{ readonly path: string; readonly origin: Origin }>;
  /** Against which relative paths of a source are read. */
  folderOf(path: string): string;
}

export function layer(sources: Sources): Layered {
  const { role, file, env, flags, assignments = [], cwd, processors } = sources;
  const values: Record<string, unknown> = {};
  const origins = new Map<string, Origin>();
  const misplaced: Array<{ path: string; origin: Origin }> = [];
  const put = (path: string, value: unknown, origin: Origin): void => {
    for (const known of origins.keys()) if (known.startsWith(`${path}.`)) origins.delete(known);
    if (putAt(values, path, value)) origins.set(path, origin);
    else misplaced.push({ path, origin });
  };
  if (file !== undefined) {
    for (const [key, value] of Object.entries(file.values)) values[key] = structuredClone(value);
    for (const [path, origin] of file.origins) origins.set(path, origin);
  }
  for (const [name, path] of VARIABLES) {
    const text = env[name];
    // One environment serves processes of every role.
    if (text === undefined || text === '' || !isOf(path, role)) continue;
    put(path, read(path, text), { from: 'environment', name });
  }
  for (const [path, given] of Object.entries(flags)) {
    const name = SETTINGS[path]?.flag?.split(' ')[0] ?? path;
    put(path, typeof given === 'string' ? read(path, given) : given, { from: 'flag', name });
  }
  for (const assignment of assignments) {
    const equals = assignment.indexOf('=');
    const path = assignment.slice(0, equals);
    put(path, read(path, assignment.slice(equals + 1)), { from: 'flag', name: '--set' });
  }
  for (const [path, value] of defaultsOf(role, values, processors)) {
    if (value === undefined || valueAt(values, path) !== undefined) continue;
    if (putAt(values, path, value)) origins.set(path, { from: 'default' });
  }
  const fileFolder = file === undefined ? cwd : dirname(resolve(cwd, file.path));
  return {
    values,
    origins,
    misplaced,
    folderOf: (path) => {
      const { from } = originOf(origins, path);
      return from === 'flag' || from === 'environment' ? cwd : fileFolder;
    },
  };
}

/** Origin of a value, or of the nearest thing around or in it that comes from anywhere. */
export function originOf(origins: ReadonlyMap<string, Origin>, path: string): Origin {
  for (let at = path; at !== ''; at = at.slice(0, Math.max(0, at.lastIndexOf('.')))) {
    const origin = origins.get(at);
    if (origin !== undefined) return origin;
  }
  // Of what is no setting only something within may have been said.
  for (const [known, origin] of origins) if (known.startsWith(`${path}.`)) return origin;
  return { from: 'default' };
}

export function valueAt(values: unknown, path: string): unknown {
  let at = values;
  for (const name of path.split('.')) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return undefined;
    at = (at as Record<string, unknown>)[name];
  }
  return at;
}

/** True for a setting of the role. What is no setting of its own is an option of the jobs system. */
const isOf = (path: string, role: Role): boolean =>
  SETTINGS[path]?.roles.includes(role) ?? role !== 'node';

function* defaultsOf(
  role: Role,
  values: Readonly<Record<string, unknown>>,
  processors: number,
): Iterable<readonly [string, unknown]> {
  const text = (path: string): string | undefined =>
    typeof values[path] === 'string' ? (values[path] as string) : undefined;
  for (const [path, setting] of Object.entries(SETTINGS))
    if (isOf(path, role)) yield [path, setting.default?.({ role, processors, text })];
  if (role === 'node') return;
  for (const [name, option] of Object.entries(JOBS_OPTIONS)) yield [`jobs.${name}`, option.default];
}

/** As the setting wants it; what does not look like it stays a text, and is refused as one. */
function read(path: string, text: string): unknown {
  const kind = SETTINGS[path]?.text;
  if (kind === 'list') return text.split(',').map((item) => item.trim());
  if (kind === 'switch' || kind === undefined) {
    if (text === 'true') return true;
    if (text === 'false') return false;
    if (kind === undefined && text === 'null') return null;
  }
  if ((kind === 'whole' || kind === undefined) && /^-?\d{1,15}$/.test(text)) return Number(text);
  return text;
}

const FORBIDDEN_NAMES = new Set(['__proto__', 'constructor', 'prototype']);

/** False where a name may not be, or something without parts is in the way. */
function putAt(values: Record<string, unknown>, path: string, value: unknown): boolean {
  const names = path.split('.');
  if (names.some((name) => FORBIDDEN_NAMES.has(name))) return false;
  const last = names.pop() as string;
  let at = values;
  for (const name of names) {
    const inner = Object.hasOwn(at, name) ? at[name] : undefined;
    if (inner === undefined || inner === null) at[name] = {};
    else if (typeof inner !== 'object' || Array.isArray(inner)) return false;
    at = at[name] as Record<string, unknown>;
  }
  at[last] = value;
  return true;
}
