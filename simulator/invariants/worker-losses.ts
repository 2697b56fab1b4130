/** When a worker counts as lost, and which attempts are lost with it or without it. */

import type { AttemptPlaced } from '../../machines/jobs/messages/local.ts';
import type { HeartbeatReceived } from '../../machines/jobs/messages/worker.ts';
import type { WorkerHealthContext } from '../../machines/jobs/worker-health.ts';
import type { WorkflowContext } from '../../machines/jobs/workflow.ts';
import type { JobsInvariant } from '../jobs/facts.ts';
import { type HealthTurn, isTrusted } from './reading-grants.ts';
import { electionMs, healedAtMs, isInCore, LATENESS_MS } from './reading-healed.ts';
import { Losses, Stores } from './reading-stores.ts';
import { eventOf, followTurns, together } from './reading-turns.ts';
import { isLoss } from './worker-credit.ts';

interface Deadline {
  readonly place: string;
  /** In true time, as far as the node's clock goes on as it did. */
  readonly dueAtMs: number;
  readonly turn: number;
}

export const suspectsTheSilent: JobsInvariant = {
  id: 'EX-8',
  kind: 'liveness',
  says: 'A worker that is not heard any more is suspect as soon as its deadline has passed, extended or not.',
  watch: (facts, verdict) => {
    const deadlines = new Map<string, Deadline>();
    const stores = new Stores();
    const losses = new Losses();
    const limitOf = ({ place, dueAtMs }: Deadline): number | null => {
      const healed = healedAtMs(facts);
      if (healed === null || !isInCore(facts, place) || losses.has(place)) return null;
      return Math.max(dueAtMs, healed + electionMs(facts)) + 2 * facts.epsilonMs + LATENESS_MS;
    };
    const workers = followTurns<WorkerHealthContext>('worker-health', {
      took({ record, context, before }) {
        const { address, place, state, atMs, takenAt, turn } = record;
        const known = deadlines.get(address);
        if (isTrusted(state)) {
          deadlines.set(address, { place, dueAtMs: atMs + context.deadline - takenAt, turn });
          return;
        }
        deadlines.delete(address);
        if (known === undefined || before === undefined || state !== 'suspect') return;
        verdict.exercised();
        const limitMs = limitOf(known);
        if (limitMs !== null && atMs > limitMs)
          verdict.broken(`${address} is suspect ${atMs - limitMs} ms too late`, record);
      },
      forgot: (address) => deadlines.delete(address),
    });
    return together(workers, losses, {
      commit: stores.commit,
      end(endedAtMs) {
        for (const [address, known] of deadlines) {
          const limitMs = limitOf(known);
          if (limitMs === null || endedAtMs <= limitMs) continue;
          const turns = stores.find(address)?.turns ?? 0;
          if (turns <= known.turn) verdict.broken(`${address} was not suspect at ${limitMs} ms`);
        }
      },
    });
  },
};

/** `workflow/j1/w1@A` of `j1/w1#2`. */
const workflowOf = (operationId: string, { datacenter }: WorkerHealthContext): string =>
  `workflow/${operationId.slice(0, operationId.lastIndexOf('#'))}@${datacenter}`;

export const losesExactlyTheGone: JobsInvariant = {
  id: 'WL-1',
  kind: 'safety',
  says: 'When a worker is evicted, or registers anew under a higher boot epoch, exactly the attempts given to the registration before are lost; when a heartbeat that was sent after an attempt was taken does not list it, exactly that attempt is. All at once, and one that is listed never.',
  watch: (_, verdict) => {
    /** Who was told so in the turn, of itself and of its worker. */
    const attempts: string[] = [];
    const workflows: string[] = [];
    return followTurns<WorkerHealthContext>('worker-health', {
      took() {
        attempts.length = 0;
        workflows.length = 0;
      },
      said({ event, to }) {
        if (event.type === 'attempt.lost') attempts.push(to);
        if (event.type === 'worker.lost' && to.startsWith('workflow/')) workflows.push(to);
      },
      over(turn) {
        const { record, before } = turn;
        if (before === undefined) return;
        const missing = missingIn(turn);
        const lost = lostIn(turn);
        if (missing.length > 0 || lost.length > 0) verdict.exercised();
        if (String(attempts.sort()) !== String(missing))
          verdict.broken(
            `${record.address} lost attempts of [${attempts}], not [${missing}]`,
            record,
          );
        if (String(workflows.sort()) !== String(lost))
          verdict.broken(
            `${record.address} lost a worker for [${workflows}], not [${lost}]`,
            record,
          );
      },
    });
  },
};

/** Workflows of the attempts that a heartbeat should list and does not. */
function missingIn({ record, context, before }: HealthTurn): readonly string[] {
  const heartbeat = eventOf<HeartbeatReceived>(record, 'heartbeat.received');
  if (heartbeat === undefined || before === undefined) return [];
  const { operations, bootEpoch, listed } = before.context;
  const isKnown = isTrusted(before.state) || before.state === 'suspect';
  if (!isKnown || heartbeat.bootEpoch !== bootEpoch) return [];
  const { heartbeatSeq, pages, page } = heartbeat;
  const isSame = listed?.heartbeatSeq === heartbeatSeq;
  const pagesSeen = new Set(isSame ? [...listed.pages, page] : [page]).size;
  if (pagesSeen < pages) return [];
  const present = new Set(isSame ? listed.ids : []);
  for (const { jobId, attemptId } of heartbeat.attempts) present.add(`${jobId}/${attemptId}`);
  const missing: string[] = [];
  for (const id of Object.keys(operations)) {
    const takenAfter = operations[id]?.heartbeatSeq;
    if (takenAfter !== undefined && takenAfter < heartbeatSeq && !present.has(id))
      missing.push(workflowOf(id, context));
  }
  return missing.sort();
}

/** Workflows of the attempts that go with their registration. */
function lostIn(turn: HealthTurn): readonly string[] {
  const { record, context, before } = turn;
  if (before === undefined) return [];
  if (isLoss(turn))
    return Object.keys(before.context.operations)
      .map((id) => workflowOf(id, context))
      .sort();
  const placed = eventOf<AttemptPlaced>(record, 'attempt.placed');
  if (placed === undefined) return [];
  const { registration } = before.context;
  const isGone = !isTrusted(before.state) && before.state !== 'suspect';
  if (!isGone && placed.registration === registration) return [];
  return [workflowOf(`${placed.jobId}/${placed.attemptId}`, context)];
}

interface LostSlot {
  readonly place: string;
  readonly registration: number;
  readonly sinceMs: number;
}

export const waitsForNothingLost: JobsInvariant = {
  id: 'WL-2',
  kind: 'liveness',
  says: 'A workflow whose attempt was lost with the registration of its worker has left that attempt at once.',
  watch: (facts, verdict) => {
    const waiting = new Map<string, LostSlot>();
    const stores = new Stores();
    const losses = new Losses();
    const judge = (address: string, one: LostSlot, atMs: number): void => {
      const healed = healedAtMs(facts);
      if (healed === null || !isInCore(facts, one.place) || losses.has(one.place)) return;
      const since = Math.max(one.sinceMs, healed + electionMs(facts));
      if (atMs > since + facts.deltaMs + LATENESS_MS)
        verdict.broken(`${address} waited for a lost attempt from ${since} ms to ${atMs} ms`);
    };
    const workers = followTurns<WorkerHealthContext>('worker-health', {
      took() {},
      said({ event, to, place, atMs }) {
        if (event.type !== 'worker.lost' || !to.startsWith('workflow/')) return;
        const { registration } = event as unknown as { readonly registration: number };
        waiting.set(to, { place, registration, sinceMs: atMs });
      },
    });
    const workflows = followTurns<WorkflowContext>('workflow', {
      took({ record, context }) {
        const one = waiting.get(record.address);
        if (one === undefined || context.slot?.registration === one.registration) return;
        verdict.exercised();
        judge(record.address, one, record.atMs);
        waiting.delete(record.address);
      },
      forgot: (address) => waiting.delete(address),
    });
    return together(workers, workflows, losses, {
      commit: stores.commit,
      end(endedAtMs) {
        for (const [address, one] of waiting) {
          const stored = stores.find(address);
          const slot = (stored?.snapshot.context as WorkflowContext | undefined)?.slot;
          if (slot?.registration === one.registration) judge(address, one, endedAtMs);
        }
      },
    });
  },
};
