/**
 * Checks of a node's settings by themselves: their types, what a role has and needs, the options
 * of the jobs system, whom to dial.
 */

import { statSync } from 'node:fs';
import { resolveHttpLimits } from '../../http/limits.ts';
import { JOBS_OPTIONS, type JobsConfiguration } from '../../programs/jobs/configuration/options.ts';
import { JOBS_RELATIONS } from '../../programs/jobs/configuration/relations.ts';
import { Field } from '../../reading/field.ts';
import { placed } from '../../reading/value.ts';
import { excerpt, messageOf } from '../../runtime/base/errors.ts';
import { resolveLimits } from '../../runtime/base/limits.ts';
import { brokenRelations, completed } from '../../runtime/base/option.ts';
import { resolveWebSocketLimits } from '../../transports/websocket/limits.ts';
import type { Issues } from './issues.ts';
import { originOf, valueAt } from './layers.ts';
import { isLoopback, type ListenAddress, parseListen } from './listen-address.ts';
import { readSettings } from './read-settings.ts';
import { type Role, SETTINGS, type Settings } from './settings.ts';
import { variableOf } from './variables.ts';

/** Settings that can be read; the other checks go on with these. @throws {ConfigurationError} */
export function checkedSettings(issues: Issues): Settings {
  const { values, origins, misplaced } = issues.layered;
  for (const { path, origin } of misplaced)
    issues.add(origin, '', `there is no setting ${excerpt(path)}`);
  issues.end();
  const source = placed(values, (path) => originOf(origins, path));
  return readSettings(new Field(source, '', issues));
}

/** A file for one role, started as another, is a mistake of the person who started it. */
export function checkRole(role: Role, { role: named }: Settings, issues: Issues): void {
  if (named !== undefined && named !== role)
    issues.unusable('role', `the configuration is for a ${named}, not for a ${role}`);
  for (const [path, { roles }] of Object.entries(SETTINGS)) {
    if (roles.includes(role) || valueAt(issues.layered.values, path) === undefined) continue;
    const whose = roles.map((one) => `a ${one}`).join(' and ');
    issues.unusable(path, `a ${role} has no such setting, ${whose} has`);
  }
}

const NEEDED: Readonly<Record<Role, ReadonlyArray<keyof Settings & string>>> = {
  gate: ['datacenters'],
  manager: ['datacenter'],
  worker: ['datacenter', 'node'],
  node: ['kinds'],
};

export function checkNeeded(role: Role, settings: Settings, issues: Issues): void {
  for (const name of NEEDED[role]) {
    if (settings[name] !== undefined || issues.isWrong(name)) continue;
    const flag = SETTINGS[name]?.flag?.split(' ')[0];
    const how = `say it in the file, by ${flag} or by ${variableOf(name)}`;
    issues.unusable(name, `a ${role} needs it; ${how}`);
  }
  const { datacenters } = settings;
  if (datacenters === undefined) return;
  if (datacenters.length === 0)
    issues.unusable('datacenters', 'a gate needs at least one datacenter');
  if (new Set(datacenters).size < datacenters.length)
    issues.unusable('datacenters', 'each datacenter stands there once');
}

export function checkedJobs({ jobs = {} }: Settings, issues: Issues): JobsConfiguration {
  const complete = completed<JobsConfiguration>(jobs, JOBS_OPTIONS);
  const { origins } = issues.layered;
  const wrong = Object.keys(JOBS_OPTIONS).filter((name) => issues.isWrong(`jobs.${name}`));
  for (const { names, what } of brokenRelations(complete, JOBS_RELATIONS, new Set(wrong))) {
    // An issue of two options is told at one that somebody wrote.
    const paths = names.map((name) => `jobs.${name}`);
    issues.unusable(
      paths.find((path) => originOf(origins, path).from !== 'default') ?? 'jobs',
      what,
    );
  }
  return complete;
}

export function checkedListen({ listen }: Settings, issues: Issues): ListenAddress | undefined {
  if (listen === undefined) return undefined;
  const address = parseListen(listen);
  if (address === undefined) {
    const must = 'must be "host:port" with a port from 0 to 65535';
    const origin = originOf(issues.layered.origins, 'listen');
    issues.add(origin, 'listen', `${must}, got ${excerpt(listen)}`);
  }
  return address;
}

/** Path at which nodes listen for each other, unless a URL says otherwise. */
const PEERS_PATH = '/peers';

/** Without this node itself and without what stands there twice. */
export function checkedPeers({ peers = [], listen }: Settings, issues: Issues): string[] {
  const kept = new Set<string>();
  for (const [index, peer] of peers.entries()) {
    const url = new URL(peer);
    if (url.pathname === '/') url.pathname = PEERS_PATH;
    const { href, host, hostname, protocol } = url;
    if (protocol === 'ws:' && !isLoopback(hostname.replace(/^\[|\]$/g, '')))
      issues.unusable(`peers.${index}`, `off loopback it must be wss://, got ${excerpt(peer)}`);
    if (host === listen) issues.warnings.push(`peers: ${peer} is this node itself`);
    else if (kept.has(href)) issues.warnings.push(`peers: ${peer} stands there twice`);
    else kept.add(href);
  }
  return [...kept];
}

/** Relations between limits are known to those that have them. */
export function checkLimits(settings: Settings, issues: Issues): void {
  const resolvers = {
    sockets: resolveWebSocketLimits,
    http: resolveHttpLimits,
    runtime: resolveLimits,
  };
  for (const name of ['sockets', 'http', 'runtime'] as const) {
    try {
      resolvers[name](settings[`limits.${name}`]);
    } catch (thrown) {
      issues.unusable(`limits.${name}`, messageOf(thrown));
    }
  }
}

/** It is code, and not loaded before it is needed. */
export function checkModules(settings: Settings, issues: Issues): void {
  for (const name of ['handlers', 'kinds'] as const) {
    const file = settings[name];
    if (file === undefined) continue;
    const path = issues.pathOf(name, file);
    if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true)
      issues.unusable(name, `there is no file ${path}`);
  }
}
