/**
 * Permissions: one table, asked by the jobs service about questions that come over sockets, by nodes of one's
 * own kinds about messages of clients, and by the HTTP API about requests.
 *
 * Guarantees: what is not in the table is refused; a client has the rights that its name has at the
 * moment of the question, not those of the moment in which it connected. It proves nothing: who asks
 * is the transport's word, or that of a token.
 */

import { placeOf } from '../../../machines/jobs/addresses.ts';
import type { ProvedPeer } from '../../../runtime/ports/transport.ts';

/** Roles of clients: each may do what the ones before it may. */
export const CLIENT_ROLES = ['reader', 'submitter', 'operator'] as const;
export type ClientRole = (typeof CLIENT_ROLES)[number];
export type AskerRole = ClientRole | 'gate' | 'manager' | 'worker';

/**
 * `own`: with the jobs, or the actors, that the token is for, and of a gate those that it coordinates; `all`:
 * only with a token that is for all of them; `any`: with every token, for it is about none.
 */
export type Reach = 'never' | 'own' | 'all' | 'any';

type Row = Readonly<Record<AskerRole, Reach>>;

const row = (...[reader, submitter, operator, gate]: [Reach, Reach, Reach, Reach]): Row => ({
  reader,
  submitter,
  operator,
  gate,
  // They speak to the actors of jobs and workers, and have nothing to ask a jobs service.
  manager: 'never',
  worker: 'never',
});

export const PERMISSIONS = {
  // Columns: reader, submitter, operator, gate.
  'jobs.submit': row('never', 'own', 'own', 'own'),
  'jobs.list': row('own', 'own', 'own', 'never'),
  'jobs.show': row('own', 'own', 'own', 'all'),
  'jobs.watch': row('own', 'own', 'own', 'never'),
  'jobs.history': row('own', 'own', 'own', 'never'),
  'jobs.progress': row('own', 'own', 'own', 'all'),
  'jobs.stuck': row('own', 'own', 'own', 'all'),
  'jobs.cancel': row('never', 'never', 'own', 'never'),
  'jobs.extend': row('never', 'never', 'own', 'all'),
  'actors.list': row('own', 'own', 'own', 'never'),
  'actors.show': row('own', 'own', 'own', 'never'),
  'actors.explain': row('own', 'own', 'own', 'never'),
  'actors.history': row('own', 'own', 'own', 'never'),
  'actors.spawn': row('never', 'own', 'own', 'never'),
  'actors.send': row('never', 'own', 'own', 'never'),
  'actors.revive': row('never', 'never', 'own', 'never'),
  'actors.end': row('never', 'never', 'own', 'never'),
  'actors.forget': row('never', 'never', 'own', 'never'),
  'workers.list': row('any', 'any', 'any', 'all'),
  'waiting.list': row('all', 'all', 'all', 'never'),
  'timers.list': row('all', 'all', 'all', 'never'),
  'undelivered.list': row('all', 'all', 'all', 'never'),
  'undelivered.show': row('all', 'all', 'all', 'never'),
  'undelivered.retry': row('never', 'never', 'all', 'never'),
  'undelivered.drop': row('never', 'never', 'all', 'never'),
  metrics: row('all', 'all', 'all', 'never'),
} satisfies Record<string, Row>;

export type Action = keyof typeof PERMISSIONS;

/** A client as it is configured: all its tokens have one role, and are for the same jobs. */
export interface ClientGrant {
  readonly name: string;
  readonly role: ClientRole;
  /** Prefixes of the ids of jobs that it is for. Default: all jobs, with `actors` none. */
  readonly jobs?: readonly string[];
  /** Prefixes of the addresses of actors that it is for. Default: all actors, with `jobs` none. */
  readonly actors?: readonly string[];
}

export interface Asker {
  readonly name: string;
  readonly role: AskerRole;
  /** Either both are undefined, which is all there are, or neither is. */
  readonly jobs: readonly string[] | undefined;
  readonly actors?: readonly string[] | undefined;
}

/**
 * Reach of a client: one that is for some jobs only is for no actor but those it names, and the other
 * way round.
 */
export function reachOf({ jobs, actors }: ClientGrant): Pick<Asker, 'jobs' | 'actors'> {
  const isLimited = jobs !== undefined || actors !== undefined;
  return isLimited ? { jobs: jobs ?? [], actors: actors ?? [] } : { jobs, actors };
}

/**
 * Reason for a refusal, or nothing. `subject`: id of the job, or whole address of the actor, where it
 * is about one. Says the same of jobs that are there and of jobs that are not.
 */
export function refusalOf(
  { role, jobs, actors }: Pick<Asker, 'role' | 'jobs' | 'actors'>,
  action: Action,
  subject?: unknown,
): string | undefined {
  const isAboutActors = action.startsWith('actors.');
  switch (PERMISSIONS[action][role]) {
    case 'never':
      return `This is for the role ${leastRole(action)}.`;
    case 'all':
      return jobs === undefined ? undefined : 'This token is for some jobs or actors only.';
    case 'own':
      return subject === undefined || isOwn(isAboutActors ? actors : jobs, subject)
        ? undefined
        : `This token is not for ${isAboutActors ? 'actors' : 'jobs'} of that name.`;
    case 'any':
      return undefined;
  }
}

/** Least role of clients that may do it. */
export function leastRole(action: Action): ClientRole {
  return CLIENT_ROLES.find((role) => PERMISSIONS[action][role] !== 'never') ?? 'operator';
}

export function isOwn(own: readonly string[] | undefined, name: unknown): boolean {
  return own === undefined || own.some((beginning) => String(name).startsWith(beginning));
}

/** Between the name of a client, that of its token, and what it calls itself. */
const CLIENT_MARK = '~';

export interface PermissionOptions {
  /** The clients that there are now; undefined: every client that was let in is an operator. */
  readonly clients?: (() => readonly ClientGrant[] | undefined) | undefined;
  /**
   * Names of nodes that are operators, where clients are not listed. Everybody else is a submitter
   * then.
   */
  readonly operators?: readonly string[] | undefined;
  /** The gates that may ask. */
  readonly gates: readonly string[];
}

export class Permissions {
  readonly #options: PermissionOptions;

  constructor(options: PermissionOptions) {
    this.#options = options;
  }

  /**
   * The asker: the node that the transport has proved, else that of the sender's address, because within one
   * process a node is whom it says it is. Nothing: nobody with any rights.
   */
  askerOf(peer: ProvedPeer | undefined, address: string): Asker | undefined {
    const { gates } = this.#options;
    const node = peer?.node ?? placeOf(address);
    switch (peer?.role) {
      case 'manager':
      case 'worker':
        return { name: node, role: peer.role, jobs: undefined };
      case 'gate':
        return gates.includes(peer.place)
          ? { name: node, role: 'gate', jobs: undefined }
          : undefined;
      case undefined:
        if (gates.includes(node)) return { name: node, role: 'gate', jobs: undefined };
    }
    return this.#client(node.split(CLIENT_MARK, 1)[0] as string);
  }

  /** Part of a list that the receiver of the answer may see, once its question was admitted. */
  ownOf<T extends { readonly jobId: string }>(
    replyTo: string | undefined = '',
    all: readonly T[],
  ): readonly T[] {
    const asker = this.askerOf(undefined, replyTo);
    // A client that was let in and has lost its token since sees nothing; nodes see all.
    const jobs = asker === undefined && replyTo.includes(CLIENT_MARK) ? [] : asker?.jobs;
    return jobs === undefined ? all : all.filter(({ jobId }) => isOwn(jobs, jobId));
  }

  #client(name: string): Asker | undefined {
    const { clients, operators } = this.#options;
    const listed = clients?.();
    if (listed !== undefined) {
      const found = listed.find((one) => one.name === name);
      return found && { name, role: found.role, ...reachOf(found) };
    }
    const isOperator = operators === undefined || operators.includes(name);
    return { name, role: isOperator ? 'operator' : 'submitter', jobs: undefined };
  }
}
