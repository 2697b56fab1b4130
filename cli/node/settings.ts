/**
 * Settings of a node, all in one table: who has each, how it is written where there is only text,
 * and what it is.
 *
 * Flags, variables of the environment and the help follow from the table; what is legal is in
 * schema.ts. docs/nodes.md is held equal to it by a test. Defaults are in layers.ts.
 */

import { JOBS_OPTIONS } from '../../programs/jobs/configuration/options.ts';

/** `node`: a process of one's own kinds, no part of the jobs system. */
export const ROLES = ['gate', 'manager', 'worker', 'node'] as const;
export type Role = (typeof ROLES)[number];

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export const LOG_FORMATS = ['auto', 'json', 'text'] as const;
export const EXTEND_POLICIES = ['never', 'whenNeeded'] as const;

export interface Setting {
  readonly roles: readonly Role[];
  /** `path`: relative to the file that says it, else to the working directory. */
  readonly text: 'text' | 'path' | 'list' | 'whole' | 'switch';
  /** As commander writes it; left out where there is none. */
  readonly flag?: string;
  /** All that it may be, where that is a few words. */
  readonly choices?: readonly string[];
  /** The flag says one item of a list each time it is given; other flags say all, with commas. */
  readonly isRepeated?: true;
  readonly meaning: string;
}

const STATEFUL: readonly Role[] = ['gate', 'manager', 'node'];

export const SETTINGS: Readonly<Record<string, Setting>> = {
  role: { roles: ROLES, text: 'text', meaning: 'which role the file is for' },
  node: {
    roles: ROLES,
    text: 'text',
    flag: '--node <name>',
    meaning: 'name of this process among all nodes',
  },
  gate: {
    roles: ['gate'],
    text: 'text',
    flag: '--gate <name>',
    meaning: 'name of the gate, the place of its jobs',
  },
  datacenters: {
    roles: ['gate'],
    text: 'list',
    flag: '--datacenters <names>',
    meaning: 'the datacenters it sends jobs to',
  },
  datacenter: {
    roles: ['manager', 'worker'],
    text: 'text',
    flag: '--datacenter <name>',
    meaning: 'the datacenter it belongs to',
  },
  gates: {
    roles: ['manager'],
    text: 'list',
    flag: '--gates <names>',
    meaning: 'the gates that may send jobs here',
  },
  kinds: {
    roles: ['node'],
    text: 'path',
    flag: '--kinds <file>',
    meaning: 'module of the kinds that it runs',
  },
  place: {
    roles: ['node'],
    text: 'text',
    flag: '--place <name>',
    meaning: 'where its actors live; nodes of one place stand in for each other',
  },
  lease: {
    roles: ['node'],
    text: 'text',
    flag: '--lease <duration>',
    meaning: 'how long the node that hosts the place may be silent before a standby takes over',
  },
  data: {
    roles: STATEFUL,
    text: 'path',
    flag: '--data <dir>',
    meaning: 'directory of the data, or "memory"',
  },
  listen: {
    roles: ROLES,
    text: 'text',
    flag: '--listen <host:port>',
    meaning: 'where the HTTP API and the sockets of peers are; port 0 is any',
  },
  hosts: {
    roles: STATEFUL,
    text: 'list',
    flag: '--host <name>',
    isRepeated: true,
    meaning: 'names by which the HTTP API may be called, besides its address',
  },
  peers: {
    roles: ROLES,
    text: 'list',
    flag: '--peer <url>',
    isRepeated: true,
    meaning: 'whom to dial, ws:// or wss://',
  },
  secretFile: {
    roles: ROLES,
    text: 'path',
    flag: '--secret-file <file>',
    meaning: 'file of the secret that all nodes share, at least 32 bytes',
  },
  'secretFiles.worker': {
    roles: ['manager', 'worker'],
    text: 'path',
    meaning: 'instead: file of the secret of managers and workers',
  },
  'secretFiles.gate': {
    roles: ['gate', 'manager'],
    text: 'path',
    meaning: 'instead: file of the secret of gates and managers',
  },
  'secretFiles.manager': {
    roles: ['manager'],
    text: 'path',
    meaning: 'instead: file of the secret of the managers of a datacenter',
  },
  'tls.cert': { roles: ROLES, text: 'path', meaning: 'certificate of this node, PEM' },
  'tls.key': { roles: ROLES, text: 'path', meaning: 'its private key, PEM' },
  'tls.ca': { roles: ROLES, text: 'path', meaning: 'whose certificates are trusted, PEM' },
  'tls.requireClientCertificate': {
    roles: ROLES,
    text: 'switch',
    meaning: 'whether a peer that connects has to show a certificate',
  },
  'tls.warnBefore': {
    roles: ROLES,
    text: 'text',
    meaning: 'how long before it expires the certificate of this node is warned of',
  },
  handlers: {
    roles: ['worker'],
    text: 'path',
    flag: '--handlers <file>',
    meaning: 'module of the handlers',
  },
  cores: {
    roles: ['worker'],
    text: 'whole',
    flag: '--cores <n>',
    meaning: 'what it has for attempts',
  },
  extend: {
    roles: ['worker'],
    text: 'text',
    flag: '--extend <policy>',
    choices: EXTEND_POLICIES,
    meaning: 'who asks for extensions besides handlers',
  },
  allowShell: {
    roles: ['worker'],
    text: 'switch',
    flag: '--allow-shell',
    meaning: 'adds the handler "shell", by which anybody who submits jobs runs commands',
  },
  shellVariables: {
    roles: ['worker'],
    text: 'list',
    flag: '--shell-variables <names>',
    meaning: 'variables of the environment that its commands get besides the usual ones',
  },
  stopLimit: {
    roles: ['worker', 'node'],
    text: 'text',
    flag: '--stop-limit <duration>',
    meaning: 'how long what runs has to end after the first signal',
  },
  strict: {
    roles: ROLES,
    text: 'switch',
    flag: '--strict',
    meaning: 'whether a file of a secret that everybody can read is refused',
  },
  'log.level': {
    roles: ROLES,
    text: 'text',
    flag: '--log-level <level>',
    choices: LOG_LEVELS,
    meaning: 'the least that is logged',
  },
  'log.format': {
    roles: ROLES,
    text: 'text',
    flag: '--log-format <format>',
    choices: LOG_FORMATS,
    meaning: 'how it is logged; auto: text on a terminal, else json',
  },
};

const PREFIX = 'ESCAPEMENT_';
/** Said by the environment only, or read by other commands. */
const OTHER_VARIABLES = ['CONFIG', 'SECRET', 'URL', 'TOKEN', 'TOKEN_FILE', 'INSIDE'];

/** `log.level` → `ESCAPEMENT_LOG_LEVEL`. */
export function variableOf(path: string): string {
  return (
    PREFIX +
    path
      .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
      .replace(/\./g, '_')
      .toUpperCase()
  );
}

const JOBS_PATHS = Object.keys(JOBS_OPTIONS).map((name) => `jobs.${name}`);

/** The paths that a variable of the environment can say, by its name. */
export const VARIABLES: ReadonlyMap<string, string> = new Map(
  [...Object.keys(SETTINGS), ...JOBS_PATHS].map((path) => [variableOf(path), path]),
);

export const KNOWN_VARIABLES: readonly string[] = [
  ...VARIABLES.keys(),
  ...OTHER_VARIABLES.map((name) => PREFIX + name),
];

/** Variables that look like ours and are nobody's. */
export function unknownVariables(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.keys(env).filter(
    (name) => name.startsWith(PREFIX) && !KNOWN_VARIABLES.includes(name),
  );
}
