/**
 * Plan of a pretend run, drawn from a seed: its rules and its tasks.
 */

import type { PlannedTask, RunRules } from '../../../machines/agents/orchestration.ts';
import type { SeededRandom } from '../../../simulator/world/random.ts';

const pickOf =
  (random: SeededRandom) =>
  <T>(...each: readonly T[]): T =>
    each[Math.floor(random.next() * each.length)] as T;

export function drawRules(random: SeededRandom): RunRules {
  const pick = pickOf(random);
  const attempt = {
    agentLimitMs: pick(600, 1_500, 4_000),
    checkpointIntervalMs: pick(100, 300, 500),
    checkpointTimeoutMs: pick(50, 100, 500),
    stallThreshold: pick(2, 3),
    retryOnMiss: pick(true, false),
    delegationLimitMs: pick(300, 1_000),
    delegationsMax: pick(1, 3),
    experts: ['sql'],
    graceMs: pick(1, 200),
    malformedLinesMax: pick(1, 20),
    idleLimitMs: pick(null, null, 450),
    budget: {},
  };
  return {
    slots: pick(1, 2, 5),
    task: {
      attempt,
      timeoutEscalation: pick(1, 3),
      stallsCount: pick(true, false),
      failuresMax: pick(1, 3),
    },
    silentAgents: [],
    experts: { sql: pick(1, 2) },
    contextThreshold: 10,
    sessionThreshold: 10,
    compactionTimeoutMs: 300,
    hasCompactCommand: pick(true, false),
    blockAllOnQuestion: pick(true, false, false),
    quotaPauseMinMs: pick(1, 200),
    budget: {},
  };
}

export function drawTasks(random: SeededRandom): readonly PlannedTask[] {
  const pick = pickOf(random);
  return Array.from({ length: pick(1, 3, 6) }, (_, index) => {
    const earlier = Array.from({ length: index }, (__, each) => `t${each}`);
    return {
      taskId: `t${index}`,
      priority: pick(0, 0, 1),
      dependsOn: earlier.filter(() => random.next() < 0.3),
      plan: {
        prompt: 'p',
        agent: 'coder',
        limitMs: pick(null, 900),
        budget: pick({}, {}, { tokens: 1 }),
      },
    };
  });
}
