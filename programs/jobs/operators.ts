/**
 * Who may add time to jobs: operators, known by the node they ask from.
 *
 * As far as a transport knows who is at the other end, so does this: within one process a node is
 * whom it says it is. What a program asks its own desk was allowed by whoever answers in its name.
 */

import type { ClientExtendRequested, ExtendAnswer } from '../../machines/jobs/messages/client.ts';
import type { Counters } from './counters.ts';

/** The refusal, or nothing. Without a list of operators anybody may. */
export function refuseStranger(
  operators: readonly string[] | undefined,
  { replyTo = '' }: ClientExtendRequested,
  counters: Counters,
): ExtendAnswer | undefined {
  // Clients of a transport that asks for tokens are called by the token's name, `~` and any letters.
  const [node = ''] = replyTo.slice(replyTo.lastIndexOf('@') + 1).split('~', 1);
  if (operators === undefined || operators.includes(node)) return undefined;
  counters.add('operator_extensions_total', { result: 'notAllowed' });
  return { accepted: false, reason: 'notAllowed', extensionsMs: 0 };
}
