/** Loss of workers: when one counts as lost, and which attempts are lost with it or without it. */

import type { AttemptPlaced } from '../../../machines/jobs/messages/local.ts';
import type { WorkerHealthContext } from '../../../machines/jobs/worker-health.ts';
import type { WorkflowContext } from '../../../machines/jobs/workflow.ts';
import type { JobsInvariant } from '../facts.ts';
import { decisionIn } from './reading-grants.ts';
import { electionMs, healedAtMs, isInCore, LATENESS_MS } from './reading-healed.ts';
import { Soundness } from './reading-soundness.ts';
import { Losses, Stores } from './reading-stores.ts';
import { type Trust, TrustOfWorkers } from './reading-trust.ts';
import { eventOf, followTurns, together } from './reading-turns.ts';
import { type HealthTurn, HeldWorkers, isSuspect, isTrusted } from './reading-workers.ts';
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
    /** When each deadline was set: the end of an attempt that held grants sets it to a time that may be over. */
    const setAtMs = new Map<string, number>();
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
          if (before?.context.deadline !== context.deadline) setAtMs.set(address, atMs);
          const fromMs = setAtMs.get(address) ?? atMs;
          const dueAtMs = Math.max(fromMs, atMs + context.deadline - takenAt);
          deadlines.set(address, { place, dueAtMs, turn });
          return;
        }
        deadlines.delete(address);
        if (known === undefined || before === undefined || !isSuspect(state)) return;
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

/**
 * Its own word is what counts, and any datacenter that is sound has to act on its absence, in any run and at
 * any moment of it.
 */
export const suspectsTheSilentAtWork: JobsInvariant = {
  id: 'EX-10',
  kind: 'liveness',
  says: 'A worker that says nothing any more is suspect as soon as the time is over that its last word and its grants gave it, whatever work it is offered meanwhile and whatever its manager gives up.',
  watch: (facts, verdict) => {
    const trust = new TrustOfWorkers(facts);
    const stores = new Stores();
    const trusted = new Map<string, Deadline>();
    const slackMs = 2 * facts.epsilonMs + LATENESS_MS;
    const judge = (address: string, atMs: number, soundMs: number, turn?: HealthTurn): void => {
      const one = trusted.get(address);
      if (one === undefined) return;
      const dueMs = Math.max(one.dueAtMs, soundMs + electionMs(facts)) + slackMs;
      if (atMs <= dueMs) return;
      if (turn === undefined && (stores.find(address)?.turns ?? 0) > one.turn) return;
      verdict.broken(
        `${address} is trusted ${atMs - dueMs} ms too long by what the worker has said`,
        turn?.record,
      );
    };
    const soundness = new Soundness(facts, (place, atMs, soundMs) => {
      for (const [address, one] of trusted) if (one.place === place) judge(address, atMs, soundMs);
    });
    const workers = followTurns<WorkerHealthContext>('worker-health', {
      took(turn) {
        const { address, place, state, atMs, takenAt, turn: number } = turn.record;
        const wasOffered = trust.of(address)?.isOfferedWork ?? false;
        const soundMs = soundness.since(place);
        if (soundMs !== undefined) judge(address, atMs, soundMs, turn);
        trust.take(turn, decisionIn(turn));
        if (!isTrusted(state)) {
          if (trusted.delete(address) && wasOffered && isSuspect(state)) verdict.exercised();
          return;
        }
        const { untilMs } = trust.of(address) as Trust;
        trusted.set(address, { place, dueAtMs: untilMs + atMs - takenAt, turn: number });
      },
      forgot(address) {
        trust.forget(address);
        trusted.delete(address);
      },
    });
    return together(workers, soundness.watcher(), {
      commit: stores.commit,
      turn: (record) => trust.hear(record),
      end: (endedAtMs) => soundness.end(endedAtMs),
    });
  },
};

/** `workflow/j1/w1@A` of `j1/w1#2`. */
const workflowOf = (operationId: string, { datacenter }: WorkerHealthContext): string =>
  `workflow/${operationId.slice(0, operationId.lastIndexOf('#'))}@${datacenter}`;

export const losesExactlyTheGone: JobsInvariant = {
  id: 'WL-1',
  kind: 'safety',
  says: 'When a worker is evicted, or registers again under a higher boot epoch, exactly the attempts given to the registration before are lost; when a heartbeat that was sent after an attempt was taken does not list it, exactly that attempt is. All at once, and one that is listed never.',
  watch: ({ config }, verdict) => {
    const workers = new HeldWorkers(config);
    /** Who was told so in the turn, of itself and of its worker, and who should have been. */
    const attempts: string[] = [];
    const workflows: string[] = [];
    let missing: readonly string[] = [];
    let lost: readonly string[] = [];
    return followTurns<WorkerHealthContext>('worker-health', {
      took(turn) {
        attempts.length = 0;
        workflows.length = 0;
        const { address } = turn.record;
        const had = [...(workers.of(address)?.attempts.keys() ?? [])];
        workers.take(turn, decisionIn(turn));
        const has = workers.of(address)?.attempts;
        const isHeartbeat = turn.record.event.type === 'heartbeat.received';
        const gone = isHeartbeat ? had.filter((id) => has?.has(id) !== true) : [];
        missing = gone.map((id) => workflowOf(id, turn.context)).sort();
        lost = lostIn(turn, had);
      },
      said({ event, to }) {
        if (event.type === 'attempt.lost') attempts.push(to);
        if (event.type === 'worker.lost' && to.startsWith('workflow/')) workflows.push(to);
      },
      over(turn) {
        const { record, before } = turn;
        if (before === undefined) return;
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

/** Workflows of the attempts that go with their registration, of those that the worker had. */
function lostIn(turn: HealthTurn, had: readonly string[]): readonly string[] {
  const { record, context, before } = turn;
  if (before === undefined) return [];
  if (isLoss(turn)) return had.map((id) => workflowOf(id, context)).sort();
  const placed = eventOf<AttemptPlaced>(record, 'attempt.placed');
  if (placed === undefined) return [];
  const { registration } = before.context;
  const isGone = !isTrusted(before.state) && !isSuspect(before.state);
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
