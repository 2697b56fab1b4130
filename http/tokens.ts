/**
 * Lists of tokens, and what may be wrong with one: the only check of them, for the API when it is made
 * and whenever its list changes, and for the configuration of a node before it starts or reloads.
 */

import { CLIENT_ROLES, type ClientGrant } from '../programs/jobs/jobs-service/permissions.ts';

/** `name`: in logs, and of who added time to a job. Several tokens may have one, with the same rights. */
export interface HttpToken extends ClientGrant {
  readonly token: string;
  /** Time at which it ends, in milliseconds since the epoch. Default: never. */
  readonly expiresAt?: number;
}

export interface TokenFault {
  readonly index: number;
  readonly field: keyof HttpToken;
  /** Without any token in it. */
  readonly what: string;
}

export const TOKEN_BYTES_MIN = 16;
const TOKEN_BYTES_MAX = 4_096;
const JOBS_MAX = 100;
const NAME = /^[A-Za-z0-9._:-]{1,64}$/;
/** Pattern of the beginning of a job's id. */
const BEGINNING = /^[A-Za-z0-9._:-]{1,128}$/;
/** Pattern of the beginning of an address. */
const ADDRESS_BEGINNING = /^[A-Za-z0-9._:~/@-]{1,256}$/;
/** Pattern of what fits into a header, and is one value there. */
const TOKEN = /^[\x21-\x2b\x2d-\x7e]+$/;

export function findTokenFaults(tokens: readonly HttpToken[]): readonly TokenFault[] {
  if (!Array.isArray(tokens)) return [{ index: 0, field: 'token', what: 'must be in a list' }];
  const first = new Map<string, HttpToken>();
  const texts = new Set<string>();
  return tokens.flatMap((given: HttpToken, index) => {
    const { name, token } = given;
    const faults = [...faultsOf(given), ...conflictsOf(given, first.get(name))];
    if (!first.has(name)) first.set(name, given);
    // One that is empty has been told of.
    if (texts.has(token) && token !== '') faults.push(['token', 'two clients have this token']);
    texts.add(token);
    return faults.map(([field, what]) => ({ index, field, what }));
  });
}

type Fault = readonly [field: keyof HttpToken, what: string];

function faultsOf({ name, role, token, jobs, actors, expiresAt }: HttpToken): Fault[] {
  const faults: Fault[] = [];
  if (!NAME.test(name)) faults.push(['name', 'must be 1 to 64 letters, digits or "._:-"']);
  if (!CLIENT_ROLES.includes(role))
    faults.push(['role', `must be one of ${CLIENT_ROLES.join(', ')}`]);
  if (typeof token !== 'string' || !isLong(token))
    faults.push(['token', `must have ${TOKEN_BYTES_MIN} to ${TOKEN_BYTES_MAX} characters`]);
  else if (!TOKEN.test(token))
    faults.push(['token', 'a token has no spaces, no commas, and no letters but those of ASCII']);
  if (actors !== undefined && !isBeginnings(actors, ADDRESS_BEGINNING))
    faults.push(['actors', `must be 1 to ${JOBS_MAX} beginnings of addresses, such as "order/"`]);
  if (jobs !== undefined && !isBeginnings(jobs, BEGINNING))
    faults.push(['jobs', `must be 1 to ${JOBS_MAX} beginnings of ids of jobs, such as "billing."`]);
  if (expiresAt !== undefined && !Number.isSafeInteger(expiresAt))
    faults.push(['expiresAt', 'must be a moment in milliseconds']);
  return faults;
}

/**
 * Conflicts of tokens: what a client may do over a socket goes by its name, so one name has one set of
 * rights.
 */
function conflictsOf(
  { name, role, jobs, actors }: HttpToken,
  above: HttpToken | undefined,
): Fault[] {
  if (above === undefined) return [];
  const faults: Fault[] = [];
  if (above.role !== role) faults.push(['role', `${name} has another role above`]);
  if (JSON.stringify(above.jobs) !== JSON.stringify(jobs))
    faults.push(['jobs', `${name} is for other jobs above`]);
  if (JSON.stringify(above.actors) !== JSON.stringify(actors))
    faults.push(['actors', `${name} is for other actors above`]);
  return faults;
}

function isLong(token: string): boolean {
  return token.length >= TOKEN_BYTES_MIN && token.length <= TOKEN_BYTES_MAX;
}

function isBeginnings(jobs: unknown, pattern: RegExp): boolean {
  return (
    Array.isArray(jobs) &&
    jobs.length >= 1 &&
    jobs.length <= JOBS_MAX &&
    jobs.every((beginning) => typeof beginning === 'string' && pattern.test(beginning))
  );
}
