/**
 * Questions that clients of a run ask jobs services: about one job in the moments around its submission, at
 * every other moment, and about all jobs; and submissions that no jobs service may accept.
 */

import { JOB_STATUSES } from '../../../machines/jobs/words.ts';
import type { Chance } from '../../world.ts';
import type { PlannedJob, ServiceQuestion, Step } from '../plan.ts';
import type { WorkloadOptions } from './workload.ts';

const JUST_AFTER_PROBABILITY = 0.6;
const JUST_AFTER_MAX_MS = 400;
/** Where the job is there and its workflows are not is a matter of one commit, so most ask about then. */
const AT_SPAWN_PROBABILITY = 0.7;
const AT_SPAWN_MAX_MS = 40;
const JUST_AFTER_MAX = 8;
const QUESTIONS_MAX = 4;
const MALFORMED_PROBABILITY = 0.25;

/** Each breaks one rule, of the field it is of. */
const MALFORMED: ReadonlyArray<Readonly<Record<string, unknown>>> = [
  { timeoutMs: 0 },
  { timeoutMs: -1 },
  { timeoutMs: 1.5 },
  { timeoutMs: '60000' },
  { failFast: 'yes' },
  { stuckThresholdMs: 0 },
  { workflows: [{ id: 'w1', handler: 'scripted', cores: 0 }] },
  { workflows: [{ id: 'w1', handler: '' }] },
  { workflows: [{ id: 'w 1', handler: 'scripted' }] },
  { workflows: [{ id: 'w1', handler: 'scripted', dependsOn: ['w2'] }] },
  { workflows: ['w1', 'w1'].map((id) => ({ id, handler: 'scripted' })) },
];

export function drawServiceQuestions(
  chance: Chance,
  { job, submittedAtMs }: { readonly job: PlannedJob; readonly submittedAtMs: number },
  { topology, edges, untilMs }: WorkloadOptions,
): readonly Step[] {
  const { to, jobId } = job;
  const steps: Step[] = [];
  if (chance.is(JUST_AFTER_PROBABILITY)) {
    const count = chance.whole(1, JUST_AFTER_MAX);
    for (let number = 1; number <= count; number += 1) {
      const isAtSpawn = chance.is(AT_SPAWN_PROBABILITY);
      const laterMs = Math.floor(chance.scaled(1, JUST_AFTER_MAX_MS)) - 1;
      const atMs = submittedAtMs + (isAtSpawn ? chance.whole(0, AT_SPAWN_MAX_MS) : laterMs);
      steps.push({ atMs, do: 'get', jobId, to });
    }
  }
  const places = [...Object.keys(topology.datacenters), to];
  const count = chance.whole(0, QUESTIONS_MAX);
  for (let number = 1; number <= count; number += 1) {
    const atMs = edges.draw(chance, submittedAtMs, untilMs);
    steps.push({ atMs, do: 'ask', to: chance.pick(places), question: drawQuestion(chance, job) });
  }
  if (chance.is(MALFORMED_PROBABILITY)) {
    const malformed = chance.pick(MALFORMED);
    const wrong = { ...job, jobId: `${jobId}-malformed`, malformed };
    steps.push({ atMs: edges.draw(chance, submittedAtMs, untilMs), do: 'submit', job: wrong });
  }
  return steps;
}

function drawQuestion(chance: Chance, { jobId, workflows }: PlannedJob): ServiceQuestion {
  const someMs = (): number => Math.round(chance.scaled(1, 600_000));
  const kind = chance.pick(['list', 'stuck', 'sinceProgress', 'workers', 'watch'] as const);
  switch (kind) {
    case 'list':
      return {
        kind,
        ...(chance.is(0.5) && { status: chance.pick(JOB_STATUSES) }),
        ...(chance.is(0.4) && { stuckForMs: someMs() }),
        ...(chance.is(0.4) && { deadlineBeforeMs: someMs() }),
        ...(chance.is(0.2) && { limit: chance.whole(1, 3) }),
      };
    case 'stuck':
      return { kind, thresholdMs: someMs() };
    case 'sinceProgress': {
      const workflow = chance.is(0.5) ? workflows[0] : undefined;
      return { kind, jobId, ...(workflow && { workflowId: workflow.id }) };
    }
    case 'workers':
      return { kind };
    case 'watch':
      return { kind, jobId, seenSeq: chance.whole(0, 2) };
  }
}
