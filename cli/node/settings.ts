/**
 * Settings of a node, all in one table: who has each, its type and range, its default, and what it is.
 *
 * Flags, variables of the environment, checks, messages and the help follow from the table, and
 * docs/nodes.md is held equal to it by a test. Jobs options and limits have tables of their own.
 */

import { HTTP_LIMITS } from '../../http/limits.ts';
import { RECORDING_LIMITS } from '../../inspector/options.ts';
import { CORES_MAX } from '../../machines/jobs/messages/client.ts';
import { JOBS_OPTIONS, type JobsConfiguration } from '../../programs/jobs/configuration/options.ts';
import { wrongName } from '../../programs/jobs/worker/shell-environment.ts';
import { LIMITS } from '../../runtime/base/limits.ts';
import type { OptionTable } from '../../runtime/base/option.ts';
import { WEBSOCKET_LIMITS } from '../../transports/websocket/limits.ts';
import { isHost } from './listen-address.ts';
import {
  CLIENTS,
  duration,
  NAME,
  NAMES,
  oneOf,
  options,
  PATH,
  PEERS,
  type SettingType,
  SWITCH,
  text,
  texts,
  whole,
} from './setting-types.ts';

/** `node`: a process of one's own kinds, no part of the jobs system. */
export const ROLES = ['gate', 'manager', 'worker', 'node'] as const;
export type Role = (typeof ROLES)[number];

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export const LOG_FORMATS = ['auto', 'json', 'text'] as const;
const EXTEND_POLICIES = ['never', 'whenNeeded'] as const;

export interface Setting<TValue = unknown> extends SettingType<TValue> {
  readonly roles: readonly Role[];
  /** As commander writes it; left out where there is none. */
  readonly flag?: string;
  /** The flag says one item of a list each time it is given; other flags say all, with commas. */
  readonly isRepeated?: true;
  readonly meaning: string;
  /** Value where no source says one; a name of the node itself may come from those before it. */
  default?(about: About): unknown;
}

/** Node that a default is for. */
export interface About {
  readonly role: Role;
  /** Processors of the machine. */
  readonly processors: number;
  /** The text of another setting, as given or by default. */
  text(path: string): string | undefined;
}

const DAY_MS = 86_400_000;
/** Settings that say where the actors of a node live. */
const PLACES = {
  gate: 'gate',
  manager: 'datacenter',
  worker: 'datacenter',
  node: 'place',
} as const;

const STATEFUL: readonly Role[] = ['gate', 'manager', 'node'];

const TABLE = {
  role: { roles: ROLES, ...oneOf(ROLES), meaning: 'which role the file is for' },
  node: {
    roles: ROLES,
    ...NAME,
    flag: '--node <name>',
    meaning: 'name of this process among all nodes',
    default: nodeName,
  },
  gate: {
    roles: ['gate'],
    ...NAME,
    flag: '--gate <name>',
    meaning: 'name of the gate, the place of its jobs',
    default: () => 'gate',
  },
  datacenters: {
    roles: ['gate'],
    ...NAMES,
    flag: '--datacenters <names>',
    meaning: 'the datacenters it sends jobs to',
  },
  datacenter: {
    roles: ['manager', 'worker'],
    ...NAME,
    flag: '--datacenter <name>',
    meaning: 'the datacenter it belongs to',
  },
  gates: {
    roles: ['manager'],
    ...NAMES,
    flag: '--gates <names>',
    meaning: 'the gates that may send jobs here',
    default: () => [],
  },
  kinds: {
    roles: ['node'],
    ...PATH,
    flag: '--kinds <file>',
    meaning: 'module of the kinds that it runs',
  },
  place: {
    roles: ['node'],
    ...NAME,
    flag: '--place <name>',
    meaning: 'where its actors live; nodes of one place stand in for each other',
    default: (about) => about.text('node'),
  },
  lease: {
    roles: ['node'],
    ...duration(1, DAY_MS),
    flag: '--lease <duration>',
    meaning: 'how long the node that hosts the place may be silent before a standby takes over',
    default: () => '6s',
  },
  data: {
    roles: STATEFUL,
    ...PATH,
    flag: '--data <dir>',
    meaning: 'directory of the data, or "memory"',
    default: ({ role, text }) => text(PLACES[role])?.replace(/^/, './data/'),
  },
  listen: {
    roles: ROLES,
    ...text('"host:port"'),
    flag: '--listen <host:port>',
    meaning: 'where the HTTP API and the sockets of peers are; port 0 is any',
    default: ({ role }) => (role === 'worker' ? undefined : '127.0.0.1:7400'),
  },
  hosts: {
    roles: STATEFUL,
    ...texts(isHost, 'a name such as "jobs.example.com", with a port or for any'),
    flag: '--host <name>',
    isRepeated: true,
    meaning: 'names by which the HTTP API may be called, besides its address',
    default: () => [],
  },
  peers: {
    roles: ROLES,
    ...PEERS,
    flag: '--peer <url>',
    isRepeated: true,
    meaning: 'whom to dial, ws:// or wss://',
    default: () => [],
  },
  secretFile: {
    roles: ROLES,
    ...PATH,
    flag: '--secret-file <file>',
    meaning: 'file of the secret that all nodes share, at least 32 bytes',
  },
  'secretFiles.worker': {
    roles: ['manager', 'worker'],
    ...PATH,
    meaning: 'instead: file of the secret of managers and workers',
  },
  'secretFiles.gate': {
    roles: ['gate', 'manager'],
    ...PATH,
    meaning: 'instead: file of the secret of gates and managers',
  },
  'secretFiles.manager': {
    roles: ['manager'],
    ...PATH,
    meaning: 'instead: file of the secret of the managers of a datacenter',
  },
  'tls.cert': { roles: ROLES, ...PATH, meaning: 'certificate of this node, PEM' },
  'tls.key': { roles: ROLES, ...PATH, meaning: 'its private key, PEM' },
  'tls.ca': { roles: ROLES, ...PATH, meaning: 'whose certificates are trusted, PEM' },
  'tls.requireClientCertificate': {
    roles: ROLES,
    ...SWITCH,
    meaning: 'whether a peer that connects has to show a certificate',
  },
  'tls.warnBefore': {
    roles: ROLES,
    ...duration(0, Number.MAX_SAFE_INTEGER),
    meaning: 'how long before it expires the certificate of this node is warned of',
  },
  handlers: {
    roles: ['worker'],
    ...PATH,
    flag: '--handlers <file>',
    meaning: 'module of the handlers',
  },
  cores: {
    roles: ['worker'],
    ...whole(1, CORES_MAX),
    flag: '--cores <n>',
    meaning: 'what it has for attempts',
    default: ({ processors }) => processors,
  },
  extend: {
    roles: ['worker'],
    ...oneOf(EXTEND_POLICIES),
    flag: '--extend <policy>',
    meaning: 'who asks for extensions besides handlers',
    default: () => 'never',
  },
  allowShell: {
    roles: ['worker'],
    ...SWITCH,
    flag: '--allow-shell',
    meaning: 'adds the handler "shell", by which anybody who submits jobs runs commands',
    default: () => false,
  },
  shellVariables: {
    roles: ['worker'],
    ...texts(
      (name) => wrongName([name]) === undefined,
      'the name of a variable that commands may have',
    ),
    flag: '--shell-variables <names>',
    meaning: 'variables of the environment that its commands get besides the usual ones',
    default: () => [],
  },
  stopLimit: {
    roles: ['worker', 'node'],
    ...duration(0, DAY_MS),
    flag: '--stop-limit <duration>',
    meaning: 'how long what runs has to end after the first signal',
    default: () => '30s',
  },
  strict: {
    roles: ROLES,
    ...SWITCH,
    flag: '--strict',
    meaning: 'whether a file of a secret that everybody can read is refused',
    default: () => false,
  },
  'log.level': {
    roles: ROLES,
    ...oneOf(LOG_LEVELS),
    flag: '--log-level <level>',
    meaning: 'the least that is logged',
    default: () => 'info',
  },
  'log.format': {
    roles: ROLES,
    ...oneOf(LOG_FORMATS),
    flag: '--log-format <format>',
    meaning: 'how it is logged; auto: text on a terminal, else json',
    default: () => 'auto',
  },
  clients: {
    roles: ROLES,
    ...CLIENTS,
    meaning: 'who may come, by which token, and what each may do',
  },
  jobs: {
    roles: ['gate', 'manager', 'worker'],
    ...options<Partial<JobsConfiguration>>(JOBS_OPTIONS),
    meaning: 'options of the jobs system',
  },
  record: {
    roles: STATEFUL,
    ...SWITCH,
    flag: '--record',
    meaning: 'whether events and contexts are kept for the inspector, beside the data',
    default: () => false,
  },
  'limits.sockets': limits(ROLES, WEBSOCKET_LIMITS, 'limits of the sockets'),
  'limits.http': limits(ROLES, HTTP_LIMITS, 'limits of the HTTP API'),
  'limits.runtime': limits(['node'], LIMITS, 'limits of the runtime'),
  'limits.recording': limits(STATEFUL, RECORDING_LIMITS, 'limits of what is recorded'),
} satisfies Record<string, Setting>;

export const SETTINGS: Readonly<Record<string, Setting>> = TABLE;

/** Settings by path, read. */
export type Settings = {
  -readonly [path in keyof typeof TABLE]?: Exclude<
    ReturnType<(typeof TABLE)[path]['read']>,
    undefined
  >;
};

function limits(roles: readonly Role[], table: OptionTable, meaning: string) {
  return { roles, ...options<Record<string, number>>(table), meaning };
}

function nodeName({ role, text }: About): string | undefined {
  const place = text(PLACES[role]);
  if (role === 'gate') return place ?? 'gate';
  if (role === 'manager') return place && `${place}.manager-1`;
  return role === 'node' ? [place, 'node-1'].filter(Boolean).join('.') : undefined;
}
