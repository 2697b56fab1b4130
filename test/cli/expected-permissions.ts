/**
 * Permissions, written by hand once more, and the question for each of them: what the product's own table
 * is held against.
 */

import type { JobsClient } from '../../programs/jobs/client.ts';

/** Clients whose names begin with "team" have tokens for jobs that begin with "team.". */
export const CLIENTS = [
  'reader',
  'submitter',
  'operator',
  'team-reader',
  'team-submitter',
  'team-operator',
];
export type Client = (typeof CLIENTS)[number];
export type Socket = (client: JobsClient, jobId: string) => Promise<unknown>;

export interface Row {
  /** Who may: with any job, with a token for all jobs, with a job of its own, with a job of others. */
  readonly may: 'everybody' | 'submitters' | 'operators' | 'nobody';
  /** About one job, about a list that leaves out what is not one's own, about all jobs, about none. */
  readonly about: 'job' | 'list' | 'all' | 'none';
  readonly http?: readonly [method: string, path: string, body?: object];
  readonly socket?: Socket;
}

export const TERMS = { timeoutMs: 600_000, workflows: [{ id: 'w', handler: 'nobody-has-it' }] };

export const EXPECTED: Readonly<Record<string, Row>> = {
  'jobs.submit': {
    may: 'submitters',
    about: 'job',
    http: ['POST', '/v1/jobs', TERMS],
    socket: (client, jobId) => client.submit({ jobId, ...TERMS }),
  },
  'jobs.list': {
    may: 'everybody',
    about: 'list',
    http: ['GET', '/v1/jobs?limit=500'],
    socket: (client) => client.list({ limit: 500 }).then(({ jobs }) => jobs),
  },
  'jobs.show': {
    may: 'everybody',
    about: 'job',
    http: ['GET', '/v1/jobs/ID'],
    socket: (client, jobId) => client.get(jobId),
  },
  'jobs.watch': {
    may: 'everybody',
    about: 'job',
    http: ['GET', '/v1/jobs/ID/events'],
    socket: async (client, jobId) => (await client.watch(jobId).next()).value,
  },
  'jobs.history': { may: 'everybody', about: 'job', http: ['GET', '/v1/jobs/ID/history'] },
  'jobs.progress': {
    may: 'everybody',
    about: 'job',
    socket: (client, jobId) => client.timeSinceProgress(jobId),
  },
  'jobs.stuck': {
    may: 'everybody',
    about: 'list',
    socket: (client) => client.stuckWorkflows(0, 500),
  },
  'jobs.cancel': {
    may: 'operators',
    about: 'job',
    http: ['POST', '/v1/jobs/ID/cancel'],
    socket: (client, jobId) => client.cancel(jobId),
  },
  'jobs.extend': {
    may: 'operators',
    about: 'job',
    http: ['POST', '/v1/jobs/ID/extend', { byMs: 1_000 }],
    socket: (client, jobId) => client.extend(jobId, { byMs: 1_000, by: 'x' }),
  },
  // A token for some jobs is for no actors; and nobody goes past the jobs service.
  'actors.list': { may: 'everybody', about: 'list', http: ['GET', '/v1/actors?limit=500'] },
  'actors.show': { may: 'everybody', about: 'all', http: ['GET', '/v1/actors/job/ID'] },
  'actors.explain': { may: 'everybody', about: 'all', http: ['GET', '/v1/explain/job/ID'] },
  'actors.history': { may: 'everybody', about: 'all', http: ['GET', '/v1/history/job/ID'] },
  'actors.spawn': {
    may: 'nobody',
    about: 'all',
    http: ['POST', '/v1/actors', { address: 'job/ID' }],
  },
  'actors.send': {
    may: 'nobody',
    about: 'all',
    http: ['POST', '/v1/actors/job/ID', { type: 'job.cancelled' }],
  },
  'actors.revive': { may: 'operators', about: 'all', http: ['POST', '/v1/revive/job/none.ID', {}] },
  'actors.end': { may: 'nobody', about: 'all', http: ['POST', '/v1/end/job/ID', {}] },
  'actors.forget': { may: 'nobody', about: 'all', http: ['POST', '/v1/forget/job/ID', {}] },
  'waiting.list': { may: 'everybody', about: 'all', http: ['GET', '/v1/waiting'] },
  'workers.list': {
    may: 'everybody',
    about: 'none',
    http: ['GET', '/v1/workers'],
    socket: (client) => client.workers(),
  },
  'timers.list': { may: 'everybody', about: 'all', http: ['GET', '/v1/timers'] },
  'undelivered.list': { may: 'everybody', about: 'all', http: ['GET', '/v1/undelivered'] },
  'undelivered.show': { may: 'everybody', about: 'all', http: ['GET', '/v1/undelivered/u1'] },
  'undelivered.retry': {
    may: 'operators',
    about: 'all',
    http: ['POST', '/v1/undelivered/u1/retry'],
  },
  'undelivered.drop': { may: 'operators', about: 'all', http: ['DELETE', '/v1/undelivered/u1'] },
  metrics: { may: 'everybody', about: 'all', http: ['GET', '/metrics'] },
};

/** Written by hand as well: what the words of a row mean. */
export function mayDo(client: Client, { may, about }: Row, isOwn: boolean): boolean {
  const least = { everybody: 0, submitters: 1, operators: 2, nobody: 3 }[may];
  const isTeam = client.startsWith('team-');
  const rank = ['reader', 'submitter', 'operator'].indexOf(client.replace('team-', ''));
  if (rank < least) return false;
  if (!isTeam) return true;
  return about === 'job' ? isOwn : about !== 'all';
}
