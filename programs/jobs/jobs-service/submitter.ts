/**
 * Submitter: the name of a client, by which its jobs are counted together, whatever its connections are
 * called, and which says who has given a job more time.
 *
 * A gate, and the HTTP API of the process that is asked, say for whom they ask; of others nothing is
 * believed that they do not prove.
 */

import { placeOf } from '../../../machines/jobs/addresses.ts';
import type {
  ClientExtendRequested,
  JobSubmitted,
} from '../../../machines/jobs/messages/client.ts';

/** `node`: who is asked. */
export function submitterOf(
  node: string,
  { gate, client, replyTo = '' }: Pick<JobSubmitted, 'gate' | 'client' | 'replyTo'>,
): string {
  const asking = placeOf(replyTo);
  if (gate !== undefined || asking === node) return client ?? asking;
  return asking.replace(/~.*$/, '');
}

/** Limit for a name that goes with an extension, as the record of a job keeps it. */
const BY_LENGTH_MAX = 1_000;

/**
 * Name of the client that gives a job more time. A gate, and the HTTP API of the process that is asked,
 * have looked; of others it is the name that they have proved, and what they call themselves only stands beside it.
 */
export function extenderOf(
  node: string,
  gates: readonly string[],
  { by, replyTo = '' }: Pick<ClientExtendRequested, 'by' | 'replyTo'>,
): string {
  const asking = placeOf(replyTo);
  if (asking === node || gates.includes(asking)) return by;
  const name = asking.replace(/~.*$/, '');
  return by === '' || by === name ? name : `${name} (${by.slice(0, BY_LENGTH_MAX)})`;
}
