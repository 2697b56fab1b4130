/**
 * Resolved configuration of one node: its sources on top of each other, checked once, then trusted.
 *
 * Guarantees: what is returned is complete and holds together; issues are told together, each
 * with where it comes from and the name that was probably meant. Files of secrets, certificates
 * and tokens are read here, so a configuration that is good can also be used.
 */

import type { JobsConfiguration } from '../../programs/jobs/configuration.ts';
import { JOBS_ROLES } from '../../programs/jobs/peer-roles.ts';
import { excerpt, messageOf } from '../../runtime/base/errors.ts';
import { findLikelyOf } from '../../runtime/base/suggestion.ts';
import { resolveSettings } from '../../transports/websocket/options.ts';
import {
  checkedJobs,
  checkedListen,
  checkedPeers,
  checkedSettings,
  checkLimits,
  checkModules,
  checkNeeded,
  checkRole,
} from './checks.ts';
import { Issues } from './issues.ts';
import { type Layered, layer, type Sources } from './layers.ts';
import type { ListenAddress } from './listen-address.ts';
import { type Proofs, readProofs } from './proofs.ts';
import type { LOG_FORMATS, LOG_LEVELS, Role } from './settings.ts';
import { KNOWN_VARIABLES, unknownVariables } from './variables.ts';

export interface NodeConfiguration extends Proofs {
  readonly role: Role;
  readonly node: string;
  /** Place of its actors: the gate's name, the datacenter, the worker's own name, or what `place` says. */
  readonly place: string;
  readonly datacenter: string;
  readonly datacenters: readonly string[];
  readonly gates: readonly string[];
  /** Nothing: in memory. */
  readonly data: string | undefined;
  readonly listen: ListenAddress | undefined;
  /** Names by which the HTTP API may be called, besides its address and those of loopback. */
  readonly hosts: readonly string[];
  readonly peers: readonly string[];
  readonly handlers: string | undefined;
  /** Empty for the roles of the jobs system. */
  readonly kinds: string;
  /** Left out: what the options of the jobs system say. */
  readonly leaseMs: number | undefined;
  readonly cores: number;
  readonly extend: 'never' | 'whenNeeded';
  readonly allowShell: boolean;
  readonly shellVariables: readonly string[];
  readonly stopLimitMs: number;
  readonly log: { readonly level: LogLevel; readonly format: (typeof LOG_FORMATS)[number] };
  /** True: the inspector records from the start, beside the data. */
  readonly record: boolean;
  readonly jobs: JobsConfiguration;
  readonly limits: {
    readonly sockets: Readonly<Record<string, number>>;
    readonly http: Readonly<Record<string, number>>;
    /** Limits of a node of one's own kinds. */
    readonly runtime: Readonly<Record<string, number>>;
    /** Limits of what is recorded for the inspector. */
    readonly recording: Readonly<Record<string, number>>;
  };
  /** For the person who starts the node; none of them stops it. */
  readonly warnings: readonly string[];
}

export type LogLevel = (typeof LOG_LEVELS)[number];

export interface Resolved {
  readonly configuration: NodeConfiguration;
  /** As it was put together, for people. */
  readonly layered: Layered;
}

const IN_MEMORY = 'memory';

/** @throws {ConfigurationError} */
export function resolveNode(sources: Sources): Resolved {
  const { role, env } = sources;
  const layered = layer(sources);
  const issues = new Issues(layered);
  const settings = checkedSettings(issues);
  checkRole(role, settings, issues);
  checkNeeded(role, settings, issues);
  checkLimits(settings, issues);
  checkModules(settings, issues);
  const jobs = checkedJobs(settings, issues);
  const listen = checkedListen(settings, issues);
  const peers = checkedPeers(settings, issues);
  // What proves who comes depends on all of that.
  issues.end();
  const proofs = readProofs(settings, listen, env, issues);
  issues.end();
  const { node = '', gate = '', datacenter = '', data = IN_MEMORY } = settings;
  const { place = node, kinds = '', lease, handlers } = settings;
  const configuration: NodeConfiguration = {
    role,
    node,
    place: { gate, manager: datacenter, worker: node, node: place }[role],
    datacenter,
    datacenters: settings.datacenters ?? [],
    gates: settings.gates ?? [],
    data: data === IN_MEMORY ? undefined : issues.pathOf('data', data),
    listen,
    hosts: settings.hosts ?? [],
    peers,
    ...proofs,
    handlers: handlers === undefined ? undefined : issues.pathOf('handlers', handlers),
    kinds: issues.pathOf('kinds', kinds),
    leaseMs: lease,
    cores: settings.cores ?? 1,
    extend: settings.extend ?? 'never',
    allowShell: settings.allowShell ?? false,
    shellVariables: settings.shellVariables ?? [],
    stopLimitMs: settings.stopLimit ?? 0,
    log: { level: settings['log.level'] ?? 'info', format: settings['log.format'] ?? 'auto' },
    record: settings.record ?? false,
    jobs,
    limits: {
      sockets: settings['limits.sockets'] ?? {},
      http: settings['limits.http'] ?? {},
      runtime: settings['limits.runtime'] ?? {},
      recording: settings['limits.recording'] ?? {},
    },
    warnings: [...issues.warnings, ...warningsOf(env)],
  };
  checkSockets(configuration, issues);
  issues.end();
  return { configuration, layered };
}

/** The transport has rules of its own, and is asked before it is opened. */
function checkSockets(configuration: NodeConfiguration, issues: Issues): void {
  const { node, role, place, peers, secret, secrets, tls, limits } = configuration;
  const proofs = {
    ...(secret !== undefined && { secret }),
    ...(secrets !== undefined && { secrets }),
    ...(tls !== undefined && { tls }),
  };
  try {
    resolveSettings(
      { node, role, roles: JOBS_ROLES, place, peers, limits: limits.sockets, ...proofs },
      0,
    );
  } catch (thrown) {
    issues.unusable('', messageOf(thrown));
  }
}

function warningsOf(env: Sources['env']): string[] {
  return unknownVariables(env).map((name) => {
    const likely = findLikelyOf(name, KNOWN_VARIABLES);
    const meant = likely === undefined ? '' : `; did you mean ${likely}?`;
    return `the environment has ${excerpt(name)}, which says nothing here${meant}`;
  });
}
