/**
 * Schema of a node's settings: one, strict, read into fresh objects.
 *
 * Each part says in words what it must be, and that is all that messages tell. What depends on
 * the role, or on two settings at once, is checked in resolve.ts.
 */

import { z } from 'zod';
import { ID_PATTERN } from '../../machines/jobs/addresses.ts';
import { CORES_MAX } from '../../machines/jobs/messages/client.ts';
import { CLIENT_ROLES } from '../../programs/jobs/desk/permissions.ts';
import { wrongName } from '../../programs/jobs/worker/shell-environment.ts';
import { durationMs } from './duration.ts';
import { isHost } from './listen-address.ts';
import { EXTEND_POLICIES, LOG_FORMATS, LOG_LEVELS, ROLES } from './settings.ts';

const PEERS_MAX = 1_000;
const HOSTS_MAX = 1_000;
const NAMES_MAX = 1_000;
const CLIENTS_MAX = 10_000;
const STOP_LIMIT_MS_MAX = 86_400_000;
const LEASE_MS_MAX = 86_400_000;

const must = (what: string) => ({ error: () => `must be ${what}` });
const choice = <const TChoices extends readonly [string, ...string[]]>(choices: TChoices) =>
  z.enum(choices, must(`one of ${choices.join(', ')}`));

const id = z.string(must('a name')).regex(ID_PATTERN, must('1 to 128 letters, digits or "._:-"'));
const names = z
  .array(id, must('a list of names'))
  .max(NAMES_MAX, must(`at most ${NAMES_MAX} names`));
const path = z.string(must('the path of a file')).min(1, must('the path of a file'));
const VARIABLE = 'the name of a variable that commands may have';
const variable = z
  .string(must(VARIABLE))
  .refine((name) => wrongName([name]) === undefined, must(VARIABLE));
const flag = z.boolean(must('true or false'));

const PEER = 'a URL that begins with ws:// or wss://';
const peer = z.string(must(PEER)).refine(isPeerUrl, must(PEER));

const HOST = 'a name such as "jobs.example.com", with a port or for any';
const host = z.string(must(HOST)).refine(isHost, must(HOST));

const STOP_LIMIT = 'a duration such as 30s or 5m, up to 1d';
const stopLimit = z.string(must(STOP_LIMIT)).refine((text) => {
  const ms = durationMs(text);
  return ms !== undefined && ms <= STOP_LIMIT_MS_MAX;
}, must(STOP_LIMIT));

const LEASE = 'a duration such as 6s or 1m, from 1ms to 1d';

const beginnings = z.array(id, must('a list of beginnings of ids of jobs'));
const ADDRESSES = 'a list of beginnings of addresses';
const addresses = z.array(z.string(must(ADDRESSES)), must(ADDRESSES));
const DURATION = 'a duration such as 12h or 30d';
const duration = z
  .string(must(DURATION))
  .refine((text) => durationMs(text) !== undefined, must(DURATION));

const client = z.strictObject(
  {
    ...{ name: id, role: choice(CLIENT_ROLES), tokenFile: path },
    jobs: beginnings.optional(),
    actors: addresses.optional(),
  },
  must('a client: name, role and tokenFile, and perhaps jobs or actors'),
);

const limits = z.record(z.string(), z.number(must('a number')), must('limits by name'));

export const SCHEMA = z.strictObject({
  role: choice(ROLES).optional(),
  node: id.optional(),
  gate: id.optional(),
  datacenters: names.optional(),
  datacenter: id.optional(),
  gates: names.optional(),
  place: id.optional(),
  kinds: path.optional(),
  lease: z.string(must(LEASE)).refine(isLease, must(LEASE)).optional(),
  data: path.optional(),
  listen: z.string(must('"host:port"')).optional(),
  hosts: z
    .array(host, must('a list of names'))
    .max(HOSTS_MAX, must(`at most ${HOSTS_MAX} names`))
    .optional(),
  peers: z
    .array(peer, must('a list of URLs'))
    .max(PEERS_MAX, must(`at most ${PEERS_MAX} URLs`))
    .optional(),
  secretFile: path.optional(),
  secretFiles: z
    .strictObject(
      { worker: path.optional(), gate: path.optional(), manager: path.optional() },
      must('worker, gate and manager, each with the path of a file'),
    )
    .optional(),
  tls: z
    .strictObject(
      {
        cert: path,
        key: path,
        ca: path.optional(),
        requireClientCertificate: flag.optional(),
        warnBefore: duration.optional(),
      },
      must('cert, key, and perhaps ca, requireClientCertificate and warnBefore'),
    )
    .optional(),
  clients: z
    .array(client, must('a list of clients'))
    .max(CLIENTS_MAX, must(`at most ${CLIENTS_MAX} clients`))
    .optional(),
  handlers: path.optional(),
  cores: z
    .int(must(`a whole number from 1 to ${CORES_MAX}`))
    .min(1, must(`a whole number from 1 to ${CORES_MAX}`))
    .max(CORES_MAX, must(`a whole number from 1 to ${CORES_MAX}`))
    .optional(),
  extend: choice(EXTEND_POLICIES).optional(),
  allowShell: flag.optional(),
  shellVariables: z
    .array(variable, must('a list of variables'))
    .max(NAMES_MAX, must(`at most ${NAMES_MAX} variables`))
    .optional(),
  stopLimit: stopLimit.optional(),
  strict: flag.optional(),
  log: z
    .strictObject(
      { level: choice(LOG_LEVELS).optional(), format: choice(LOG_FORMATS).optional() },
      must('level and format'),
    )
    .optional(),
  /** Checked by the jobs system itself. */
  jobs: z.record(z.string(), z.unknown(), must('options of the jobs system')).optional(),
  limits: z
    .strictObject(
      { sockets: limits.optional(), http: limits.optional(), runtime: limits.optional() },
      must('sockets, http and runtime, each with limits by name'),
    )
    .optional(),
});

export type Settings = z.infer<typeof SCHEMA>;

function isLease(text: string): boolean {
  const ms = durationMs(text);
  return ms !== undefined && ms >= 1 && ms <= LEASE_MS_MAX;
}

function isPeerUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  // A peer that is let in is asked for a proof, not for a password that stands in a list.
  return (protocol === 'ws:' || protocol === 'wss:') && username === '' && password === '';
}
