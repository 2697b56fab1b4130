/** Requests for extensions as a worker's health has decided them. */

import type {
  ExtensionAnswer,
  ExtensionRequested,
} from '../../../machines/jobs/messages/worker.ts';
import type { WorkerHealthContext } from '../../../machines/jobs/worker-health.ts';
import type { Watcher } from '../../invariants.ts';
import type { JobsFacts } from '../facts.ts';
import { eventOf, followTurns, type Seen } from './reading-turns.ts';
import { type Granted, type HealthTurn, type HeldWorker, HeldWorkers } from './reading-workers.ts';

/** A request that a turn has decided; the answer is what is judged, by what is known of the worker. */
export interface Decided {
  readonly turn: HealthTurn;
  readonly before: Seen<WorkerHealthContext>;
  readonly request: ExtensionRequested;
  /** Undefined when an answer was repeated. */
  readonly answer: ExtensionAnswer | undefined;
  /** Before the turn. */
  readonly worker: HeldWorker;
}

export interface Grant extends Decided {
  readonly answer: ExtensionAnswer;
  /** Before this grant. */
  readonly soFar: Granted | undefined;
}

/** What a worker's health did with a request in this turn; undefined when it repeated an answer. */
export function decisionIn({ record, context, before }: HealthTurn): ExtensionAnswer | undefined {
  const request = eventOf<ExtensionRequested>(record, 'extension.requested');
  if (request === undefined || before === undefined) return undefined;
  const { requestId } = request;
  const pending = context.pending.at(-1)?.answer;
  if (pending?.requestId === requestId && context.grantCount > before.context.grantCount)
    return pending;
  const answer = context.answers.at(-1);
  return answer?.requestId === requestId && answer !== before.context.answers.at(-1)
    ? isNew(answer, before.context.answers)
    : undefined;
}

/** A record that was read again has the same answers as other objects. */
function isNew(
  answer: ExtensionAnswer,
  known: readonly ExtensionAnswer[],
): ExtensionAnswer | undefined {
  return known.some(({ requestId }) => requestId === answer.requestId) ? undefined : answer;
}

/** Hears of every request whose turn and the one before it were seen. */
export function followRequests({ config }: JobsFacts, hear: (decided: Decided) => void): Watcher {
  const workers = new HeldWorkers(config);
  return followTurns<WorkerHealthContext>('worker-health', {
    took(turn) {
      const { record, before } = turn;
      const request = eventOf<ExtensionRequested>(record, 'extension.requested');
      const answer = request === undefined ? undefined : decisionIn(turn);
      const worker = workers.of(record.address);
      if (request !== undefined && before !== undefined && worker !== undefined)
        hear({ turn, before, request, answer, worker });
      workers.take(turn, answer);
    },
    forgot: (address) => workers.forget(address),
  });
}

/** Hears of every grant. */
export function followGrants(facts: JobsFacts, hear: (grant: Grant) => void): Watcher {
  return followRequests(facts, (decided) => {
    const { answer, request, worker } = decided;
    if (answer?.granted !== true) return;
    hear({ ...decided, answer, soFar: worker.attempts.get(request.operationId)?.granted });
  });
}
