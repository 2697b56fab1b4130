/**
 * Options of an inspector, and the only place where their defaults are written.
 */

import type { TlsOptions } from 'node:tls';
import { RuntimeError } from '../runtime/base/errors.ts';
import { wholeNumbers } from '../runtime/base/option.ts';
import type { Clock } from '../runtime/ports/clock.ts';
import { type Authorize, type InspectorToken, isTokenName } from './access.ts';
import type { JobOrders } from './commands.ts';
import type { RunsSource } from './runs/source.ts';

export interface RecordOptions {
  /** Kinds to record. Default: all. */
  readonly kinds?: readonly string[];
  /** Turns that are kept; beyond it the oldest go. Default 10,000. */
  readonly turnsMax?: number;
  /** Bytes that are kept; beyond it the oldest go. Default 32 MiB. */
  readonly bytesMax?: number;
  /** Directory, such as that of the store, in which it is kept too: it goes on after a restart. Default: in memory alone. */
  readonly directory?: string;
}

export interface InspectorHandlerOptions {
  /** Path at which it is mounted, such as `/inspector`, when the server leaves that in `url`. Default: none. */
  readonly prefix?: string;
  /** Tokens of those who may look; needed for everybody who is not on this machine. Default: none. */
  readonly token?: string | readonly InspectorToken[];
  /** True: all who may look may command; `loopback`: from this machine, or by a token that may; false: nobody. Default `loopback`. */
  readonly commands?: boolean | 'loopback';
  /** Replaces values before they leave: called with a path such as `/user/name`. Keys that look like secrets are replaced anyway. */
  readonly redact?: (path: string, value: unknown) => unknown;
  /** Bytes of one context that are shown; a larger one is cut and its size told. Default 64 KiB. */
  readonly contextBytesMax?: number;
  /** Names by which the server may be called. Default: those of loopback, and where a request arrived. */
  readonly hosts?: readonly string[];
  /** Pages at once; a further one is answered 503. Default 16. */
  readonly streamsMax?: number;
  /** Bytes that a page may leave unread; beyond it frames are left out, and it is told. Default 1 MiB. */
  readonly streamBytesMax?: number;
  /** Time without anybody looking after which nothing is collected. Default 60,000. */
  readonly idleMs?: number;
  /** Keeps events, contexts and messages in memory from the start. Default: nothing until somebody asks. */
  readonly record?: RecordOptions | boolean;
  /** False: only what this node knows. Default true: nodes that are connected are asked too. */
  readonly cluster?: boolean;
  /** Role of the node, for people. */
  readonly role?: string;
  /** Decides who may look, in place of `token` and `commands`. */
  readonly authorize?: Authorize;
  /** Orders about jobs, where the runtime is one of the jobs system. */
  readonly jobs?: JobOrders;
  /** For test environments: deadlines of actors may be moved, and let come at once, by those who may command. Default false. */
  readonly deadlines?: boolean;
  /** What hosts runs of agents or of map-reduce: shown on the panel of runs. */
  readonly runs?: RunsSource;
  /** Folder of the page's files. Default: the one of the package. */
  readonly pageFolder?: string;
}

export interface InspectorOptions extends InspectorHandlerOptions {
  /** Default 7878; the next ones are tried when it is taken. 0: any. */
  readonly port?: number;
  /** Default: 127.0.0.1 and ::1. Any other one needs `tls` and `token`. */
  readonly host?: string;
  readonly tls?: TlsOptions;
}

export interface ResolvedOptions {
  readonly prefix: string;
  readonly tokens: readonly InspectorToken[];
  readonly commands: boolean | 'loopback';
  readonly redact: ((path: string, value: unknown) => unknown) | undefined;
  readonly contextBytesMax: number;
  readonly hosts: readonly string[] | undefined;
  readonly streamsMax: number;
  readonly streamBytesMax: number;
  readonly idleMs: number;
  readonly record: RecordOptions & Required<Pick<RecordOptions, 'turnsMax' | 'bytesMax'>>;
  readonly recordsFromStart: boolean;
  readonly cluster: boolean;
  readonly role: string | undefined;
  readonly authorize: Authorize | undefined;
  readonly jobs: JobOrders | undefined;
  readonly deadlines: boolean;
  readonly runs: RunsSource | undefined;
  readonly pageFolder: string | undefined;
}

const COUNTS = {
  contextBytesMax: 65_536,
  streamsMax: 16,
  streamBytesMax: 1_048_576,
  idleMs: 60_000,
};
const RECORD = { turnsMax: 10_000, bytesMax: 32 * 1_048_576 };
/** Limits of a recording as a table, for the settings of a node. */
export const RECORDING_LIMITS = wholeNumbers(RECORD);
const RECORD_NAMES: ReadonlySet<string> = new Set(['kinds', 'directory', ...Object.keys(RECORD)]);
const NAMES: ReadonlySet<string> = new Set([
  ...Object.keys(COUNTS),
  ...'prefix token commands redact hosts record cluster role authorize deadlines jobs runs pageFolder port host tls clock'.split(
    ' ',
  ),
]);

/** @throws {RuntimeError} OPTION_INVALID */
export function resolveOptions(
  options: InspectorHandlerOptions & { readonly clock?: Clock },
): ResolvedOptions {
  for (const name of Object.keys(options))
    if (!NAMES.has(name))
      throw invalid(`An inspector has no option "${name}". Known: ${[...NAMES].join(', ')}.`);
  const { prefix = '', token, commands = 'loopback', record = false } = options;
  if (prefix !== '' && !/^(?:\/[A-Za-z0-9._~-]+)+$/.test(prefix))
    throw invalid('"prefix" of an inspector is a path such as "/inspector".');
  if (commands !== true && commands !== false && commands !== 'loopback')
    throw invalid('"commands" of an inspector is true, false or "loopback".');
  checkRecord(record);
  const recorded = typeof record === 'object' ? { ...RECORD, ...record } : RECORD;
  const counts = { ...COUNTS, ...pick(options) };
  for (const [name, value] of Object.entries({
    ...counts,
    turnsMax: recorded.turnsMax,
    bytesMax: recorded.bytesMax,
  }))
    if (!Number.isSafeInteger(value) || value < 1)
      throw invalid(`"${name}" of an inspector is a positive integer, got ${value}.`);
  return {
    prefix,
    tokens: tokensOf(token),
    commands,
    redact: options.redact,
    ...counts,
    hosts: options.hosts,
    record: recorded,
    recordsFromStart: record !== false,
    cluster: options.cluster ?? true,
    role: options.role,
    authorize: options.authorize,
    jobs: options.jobs,
    deadlines: options.deadlines === true,
    runs: options.runs,
    pageFolder: options.pageFolder,
  };
}

/** @throws {RuntimeError} OPTION_INVALID */
function checkRecord(record: RecordOptions | boolean): void {
  if (typeof record === 'boolean') return;
  for (const name of Object.keys(record))
    if (!RECORD_NAMES.has(name))
      throw invalid(`"record" of an inspector has no "${name}": ${[...RECORD_NAMES].join(', ')}.`);
  const { directory, kinds } = record;
  if (directory !== undefined && (typeof directory !== 'string' || directory === ''))
    throw invalid('"directory" of a recording is the path of a directory.');
  const areNames = Array.isArray(kinds) && kinds.every((kind) => typeof kind === 'string');
  if (kinds !== undefined && !areNames) throw invalid('"kinds" of a recording is a list of names.');
}

function pick(options: InspectorHandlerOptions): Partial<typeof COUNTS> {
  const given = Object.entries(options).filter(
    ([name, value]) => name in COUNTS && value !== undefined,
  );
  return Object.fromEntries(given);
}

function tokensOf(token: InspectorHandlerOptions['token']): readonly InspectorToken[] {
  const tokens =
    token === undefined ? [] : typeof token === 'string' ? [{ name: 'token', token }] : token;
  for (const { name, token: text } of tokens) {
    if (!isTokenName(name))
      throw invalid('The name of an inspector\'s token is letters, digits and "._-", at most 40.');
    if (typeof text !== 'string' || text.length < 16)
      throw invalid(`Token "${name}" of an inspector has at least 16 characters.`);
  }
  return tokens;
}

function invalid(what: string): RuntimeError {
  return new RuntimeError('OPTION_INVALID', what);
}
