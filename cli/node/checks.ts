/**
 * Checks of a node's settings by themselves: the schema, what a role has and needs, the options
 * of the jobs system, whom to dial.
 */

import { statSync } from 'node:fs';
import { resolveHttpLimits } from '../../http/limits.ts';
import { findMistakes } from '../../programs/jobs/configuration/checks.ts';
import { JOBS_OPTIONS } from '../../programs/jobs/configuration/options.ts';
import { type JobsConfiguration, resolveConfiguration } from '../../programs/jobs/configuration.ts';
import { excerpt, messageOf } from '../../runtime/base/errors.ts';
import { resolveLimits } from '../../runtime/base/limits.ts';
import { findLikelyOf } from '../../runtime/base/suggestion.ts';
import { resolveWebSocketLimits } from '../../transports/websocket/limits.ts';
import { durationMs } from './duration.ts';
import { originOf, valueAt } from './layers.ts';
import { isLoopback, type ListenAddress, parseListen } from './listen-address.ts';
import type { Mistakes } from './mistakes.ts';
import { SCHEMA, type Settings } from './schema.ts';
import { type Role, SETTINGS, variableOf } from './settings.ts';

/** Names that are told whole where one of them was meant. */
const NAMES_TOLD_MAX = 5;

/** Settings that can be read; the other checks go on with these. @throws {ConfigurationError} */
export function checkedSettings(mistakes: Mistakes): Settings {
  const { values, misplaced } = mistakes.layered;
  for (const { path, origin } of misplaced)
    mistakes.add({
      path: '',
      what: `there is no setting ${excerpt(path)}`,
      origin,
      isMalformed: true,
    });
  mistakes.end();
  const parsed = SCHEMA.safeParse(values);
  if (parsed.success) return parsed.data;
  for (const issue of parsed.error.issues) {
    const path = issue.path.join('.');
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys) tellUnknown(mistakes, path, key);
      continue;
    }
    const given = valueAt(values, path);
    const got = given === undefined ? 'it is missing' : `got ${shown(given)}`;
    mistakes.malformed(path, `${issue.message}, ${got}`);
  }
  return readable(values);
}

/** The settings that are good by themselves. */
function readable(values: Readonly<Record<string, unknown>>): Settings {
  const good = Object.entries(SCHEMA.shape).flatMap(([name, schema]) => {
    const { success, data } = schema.safeParse(values[name]);
    return success && data !== undefined ? [[name, data] as const] : [];
  });
  return Object.fromEntries(good) as Settings;
}

/** Settings that people write where only the path of a file may stand. */
const FILES_OF: Readonly<Record<string, string>> = { secret: 'secretFile', token: 'tokenFile' };

function tellUnknown(mistakes: Mistakes, within: string, key: string): void {
  const known = knownKeys(within);
  const likely = Object.hasOwn(FILES_OF, key) ? FILES_OF[key] : findLikelyOf(key, known);
  const few = known.length <= NAMES_TOLD_MAX ? `; there are ${known.join(', ')}` : '';
  const meant = likely === undefined ? few : `; did you mean "${likely}"?`;
  const path = within === '' ? key : `${within}.${key}`;
  mistakes.malformed(path, `there is no setting ${excerpt(key)}${meant}`, within);
}

/** The keys that there are at a place of the configuration. */
function knownKeys(within: string): string[] {
  const { tls, log, limits, clients, secretFiles } = SCHEMA.shape;
  if (within.startsWith('clients.')) return Object.keys(clients.unwrap().unwrap().shape);
  const shapes: Readonly<Record<string, object>> = {
    '': SCHEMA.shape,
    secretFiles: secretFiles.unwrap().shape,
    tls: tls.unwrap().shape,
    log: log.unwrap().shape,
    limits: limits.unwrap().shape,
  };
  return Object.keys(shapes[within] ?? {});
}

/** Numbers as they are: JSON has no word for NaN and Infinity. */
function shown(value: unknown): string {
  return typeof value === 'number' ? String(value) : excerpt(value);
}

/** A file for one role, started as another, is a mistake of the person who started it. */
export function checkRole(role: Role, { role: named }: Settings, mistakes: Mistakes): void {
  if (named !== undefined && named !== role)
    mistakes.unusable('role', `the configuration is for a ${named}, not for a ${role}`);
  for (const [path, { roles }] of Object.entries(SETTINGS)) {
    if (roles.includes(role) || valueAt(mistakes.layered.values, path) === undefined) continue;
    const whose = roles.map((one) => `a ${one}`).join(' and ');
    mistakes.unusable(path, `a ${role} has no such setting, ${whose} has`);
  }
  const { values } = mistakes.layered;
  if (role === 'node' && valueAt(values, 'jobs') !== undefined)
    mistakes.unusable('jobs', 'a node of your own kinds has no options of the jobs system');
  if (role !== 'node' && valueAt(values, 'limits.runtime') !== undefined)
    mistakes.unusable('limits.runtime', `a ${role} has no such limits, a node of your kinds has`);
}

const NEEDED: Readonly<Record<Role, ReadonlyArray<keyof Settings>>> = {
  gate: ['datacenters'],
  manager: ['datacenter'],
  worker: ['datacenter', 'node'],
  node: ['kinds'],
};

export function checkNeeded(role: Role, settings: Settings, mistakes: Mistakes): void {
  for (const name of NEEDED[role]) {
    if (settings[name] !== undefined || mistakes.isWrong(name)) continue;
    const flag = SETTINGS[name]?.flag?.split(' ')[0];
    const how = `say it in the file, by ${flag} or by ${variableOf(name)}`;
    mistakes.unusable(name, `a ${role} needs it; ${how}`);
  }
  const { datacenters } = settings;
  if (datacenters === undefined) return;
  if (datacenters.length === 0)
    mistakes.unusable('datacenters', 'a gate needs at least one datacenter');
  if (new Set(datacenters).size < datacenters.length)
    mistakes.unusable('datacenters', 'each datacenter stands there once');
}

export function checkedJobs({ jobs = {} }: Settings, mistakes: Mistakes): JobsConfiguration {
  const read: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(jobs)) {
    const isDuration = typeof value === 'string' && name.endsWith('Ms');
    read[name] = isDuration ? (durationMs(value) ?? value) : value;
  }
  const found = findMistakes(read, { ...defaultJobs(), ...read });
  if (found.length === 0) return resolveConfiguration(read as Partial<JobsConfiguration>);
  const { origins } = mistakes.layered;
  for (const text of found) {
    // A mistake of two options is told at one that somebody wrote.
    const named = [...text.matchAll(/"([^"]+)"/g)].map(([, name]) => `jobs.${name}`);
    const isWritten = (path: string) => originOf(origins, path).from !== 'default';
    const path = named.find(isWritten) ?? 'jobs';
    const what = text.replace(`"${path.slice('jobs.'.length)}" must be `, 'must be ');
    mistakes.unusable(path, what.replace(/\.$/, ''));
  }
  return defaultJobs();
}

function defaultJobs(): JobsConfiguration {
  const defaults = Object.entries(JOBS_OPTIONS).map(([name, option]) => [name, option.default]);
  return Object.fromEntries(defaults) as JobsConfiguration;
}

export function checkedListen({ listen }: Settings, mistakes: Mistakes): ListenAddress | undefined {
  if (listen === undefined) return undefined;
  const address = parseListen(listen);
  if (address === undefined) {
    const must = 'must be "host:port" with a port from 0 to 65535';
    mistakes.malformed('listen', `${must}, got ${excerpt(listen)}`);
  }
  return address;
}

/** Path at which nodes listen for each other, unless a URL says otherwise. */
const PEERS_PATH = '/peers';

/** Without this node itself and without what stands there twice. */
export function checkedPeers({ peers = [], listen }: Settings, mistakes: Mistakes): string[] {
  const kept = new Set<string>();
  for (const [index, peer] of peers.entries()) {
    const url = new URL(peer);
    if (url.pathname === '/') url.pathname = PEERS_PATH;
    const { href, host, hostname, protocol } = url;
    if (protocol === 'ws:' && !isLoopback(hostname.replace(/^\[|\]$/g, '')))
      mistakes.unusable(`peers.${index}`, `off loopback it must be wss://, got ${excerpt(peer)}`);
    if (host === listen) mistakes.warnings.push(`peers: ${peer} is this node itself`);
    else if (kept.has(href)) mistakes.warnings.push(`peers: ${peer} stands there twice`);
    else kept.add(href);
  }
  return [...kept];
}

/** Those that know the limits say what is wrong with them. */
export function checkLimits({ limits = {} }: Settings, mistakes: Mistakes): void {
  const resolvers = {
    sockets: resolveWebSocketLimits,
    http: resolveHttpLimits,
    runtime: resolveLimits,
  };
  for (const name of ['sockets', 'http', 'runtime'] as const) {
    try {
      resolvers[name](limits[name]);
    } catch (thrown) {
      mistakes.unusable(`limits.${name}`, messageOf(thrown));
    }
  }
}

/** It is code, and not loaded before it is needed. */
export function checkModules(settings: Settings, mistakes: Mistakes): void {
  for (const name of ['handlers', 'kinds'] as const) {
    const file = settings[name];
    if (file === undefined) continue;
    const path = mistakes.pathOf(name, file);
    if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true)
      mistakes.unusable(name, `there is no file ${path}`);
  }
}
