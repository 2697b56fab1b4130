/**
 * Who may do what: one table, asked by the desk about questions that come over sockets and by the
 * HTTP API about requests.
 *
 * Guarantees: what is not in the table is refused; a client has the rights that its name has at the
 * moment of the question, not those of the moment in which it connected. It proves nothing: who asks
 * is the transport's word, or that of a token.
 */

import type { ProvedPeer } from '../../runtime/transport.ts';

/** Of clients: each may do what the ones before it may. */
export const CLIENT_ROLES = ['reader', 'submitter', 'operator'] as const;
export type ClientRole = (typeof CLIENT_ROLES)[number];
export type AskerRole = ClientRole | 'gate' | 'manager' | 'worker';

/**
 * `own`: with the jobs that the token is for, and of a gate those that it coordinates; `all`: only with a
 * token that is for all jobs; `any`: with every token, for it is about no job.
 */
export type Reach = 'never' | 'own' | 'all' | 'any';

type Row = Readonly<Record<AskerRole, Reach>>;

const row = (...[reader, submitter, operator, gate]: [Reach, Reach, Reach, Reach]): Row => ({
  reader,
  submitter,
  operator,
  gate,
  // They speak to the actors of jobs and workers, and have nothing to ask a desk.
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
  'workers.list': row('any', 'any', 'any', 'all'),
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
  /** How the ids of jobs begin that it is for. Default: all jobs. */
  readonly jobs?: readonly string[];
}

export interface Asker {
  readonly name: string;
  readonly role: AskerRole;
  readonly jobs: readonly string[] | undefined;
}

/** Why not, or nothing. `jobId`: of the job, where it is about one. Says the same of jobs that are there and of jobs that are not. */
export function refusalOf(
  { role, jobs }: Pick<Asker, 'role' | 'jobs'>,
  action: Action,
  jobId?: unknown,
): string | undefined {
  switch (PERMISSIONS[action][role]) {
    case 'never':
      return `This is for the role ${leastRole(action)}.`;
    case 'all':
      return jobs === undefined ? undefined : 'This token is for some jobs only.';
    case 'own':
      return jobId === undefined || isOwn(jobs, jobId)
        ? undefined
        : 'This token is not for jobs of that name.';
    case 'any':
      return undefined;
  }
}

/** Of clients. */
export function leastRole(action: Action): ClientRole {
  return CLIENT_ROLES.find((role) => PERMISSIONS[action][role] !== 'never') ?? 'operator';
}

export function isOwn(jobs: readonly string[] | undefined, jobId: unknown): boolean {
  return jobs === undefined || jobs.some((beginning) => String(jobId).startsWith(beginning));
}

/** Between the name of a client, that of its token, and what it calls itself. */
const CLIENT_MARK = '~';

export interface PermissionOptions {
  /** The clients that there are now; undefined: whoever was let in is an operator. */
  readonly clients?: (() => readonly ClientGrant[] | undefined) | undefined;
  /** Where clients are not listed: names of nodes that are operators. Everybody else is a submitter then. */
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
   * Who asks: what the transport has proved, else whom the sender's address names, because within one
   * process a node is whom it says it is. Nothing: nobody with any rights.
   */
  askerOf(peer: ProvedPeer | undefined, address: string): Asker | undefined {
    const { gates } = this.#options;
    const node = peer?.node ?? address.slice(address.lastIndexOf('@') + 1);
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

  /** Of a list what whoever waits for the answer there may see, once its question was admitted. */
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
      return found && { name, role: found.role, jobs: found.jobs };
    }
    const isOperator = operators === undefined || operators.includes(name);
    return { name, role: isOperator ? 'operator' : 'submitter', jobs: undefined };
  }
}
