/**
 * Admission of questions to the jobs service of a datacenter or a gate: each has the fields that its schema
 * says, and comes from somebody whom the table of permissions lets ask it.
 *
 * What is refused reaches no machine; it is counted, and logged up to a limited number of times
 * a second. A program's own questions are not checked: the code that speaks in its name has checked who asks.
 */

import type { ZodType } from 'zod';
import type { JobsServiceEvent } from '../../../machines/jobs/jobs-service.ts';
import {
  clientCancelRequested,
  clientExtendRequested,
  jobAsked,
  jobsAsked,
  jobWatched,
  sinceProgressAsked,
  stuckAsked,
  workersAsked,
} from '../../../machines/jobs/messages/client.ts';
import type { ForeignMessage, KindOptions } from '../../../runtime/actor.ts';
import { excerpt, RuntimeError } from '../../../runtime/base/errors.ts';
import type { Logger } from '../../../runtime/base/limits.ts';
import { Bucket } from '../../../runtime/base/token-bucket.ts';
import type { Clock } from '../../../runtime/ports/clock.ts';
import type { Counters } from '../counters.ts';
import { type Action, type Permissions, refusalOf } from './permissions.ts';
import { schemaBreach } from './schema-breach.ts';

interface Question {
  readonly action: Action;
  /** Left out: the jobs service checks it itself, so that it can name the field that is wrong. */
  readonly schema?: ZodType;
}

const QUESTIONS: Readonly<Record<JobsServiceEvent['type'], Question>> = {
  'job.submitted': { action: 'jobs.submit' },
  'job.asked': { action: 'jobs.show', schema: jobAsked },
  'jobs.asked': { action: 'jobs.list', schema: jobsAsked },
  'job.watched': { action: 'jobs.watch', schema: jobWatched },
  'jobCancel.requested': { action: 'jobs.cancel', schema: clientCancelRequested },
  'jobExtend.requested': { action: 'jobs.extend', schema: clientExtendRequested },
  'stuckWorkflows.asked': { action: 'jobs.stuck', schema: stuckAsked },
  'sinceProgress.asked': { action: 'jobs.progress', schema: sinceProgressAsked },
  'workers.asked': { action: 'workers.list', schema: workersAsked },
};

export interface ServiceDoor {
  readonly permissions: Permissions;
  readonly counters: Counters;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Beyond it refusals are only counted. */
const REFUSALS_LOGGED_PER_SECOND = 5;

export function admitToService(door: ServiceDoor): NonNullable<KindOptions['admit']> {
  const logged = new Bucket(door.clock, REFUSALS_LOGGED_PER_SECOND);
  return (message) => {
    const { event } = message;
    if (!Object.hasOwn(QUESTIONS, event.type))
      return `${event.type} does not come from another place`;
    const { action, schema } = QUESTIONS[event.type as JobsServiceEvent['type']];
    if ('handedOver' in event) return 'handedOver: a job is handed over within a process only';
    const breach = schema && schemaBreach(schema, event);
    if (breach !== undefined) return breach;
    const why = whyNot(door.permissions, message, action);
    if (why === undefined) return undefined;
    const { counters, logger } = door;
    counters.add('desk_questions_refused_total', { action });
    if (action === 'jobs.extend')
      counters.add('operator_extensions_total', { result: 'notAllowed' });
    const peer = message.peer?.node ?? message.from;
    if (logged.take(1))
      logger.warn({ event: 'question.refused', peer, action, why }, 'question.refused');
    return new RuntimeError('NOT_ALLOWED', `${message.to} refuses ${action}: ${why}`);
  };
}

function whyNot(
  permissions: Permissions,
  { peer, from = '', event }: ForeignMessage,
  action: Action,
): string | undefined {
  const asker = permissions.askerOf(peer, from);
  if (asker === undefined)
    return `Nobody called ${excerpt(peer?.node ?? from)} has any rights here.`;
  const { jobId, gate } = event as { jobId?: unknown; gate?: { gateId?: unknown } | null };
  // A gate sends the jobs that it coordinates, in its own name, and nobody else sends any in it.
  const isForged = action === 'jobs.submit' && peer !== undefined && gate?.gateId !== gateOf(peer);
  return isForged
    ? 'Only the gate itself sends jobs in its name.'
    : refusalOf(asker, action, jobId);
}

const gateOf = ({ role, place }: NonNullable<ForeignMessage['peer']>): string | undefined =>
  role === 'gate' ? place : undefined;
