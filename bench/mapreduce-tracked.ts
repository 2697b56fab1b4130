/** Bytes of memory for each agent whose timers are armed: with many of them, and without. */

import { createRuntime } from '../create-runtime.ts';
import { agentAddress, agentIdOf, runAddress } from '../machines/mapreduce/addresses.ts';
import { mapAgentMachine } from '../machines/mapreduce/map-agent.ts';
import { runMachine } from '../machines/mapreduce/run.ts';
import { collectedMemory } from './process-memory.ts';
import type { Field, Measured, MeasureOptions } from './suite.ts';

const AGENTS = 10_000;
const QUICK_AGENTS = 1_000;

export const mapReduceTracked: Field = {
  name: 'bytesPerTrackedAgent',
  about: `bytes of memory for each of ${AGENTS} agents with an armed timer`,
  better: 'lower',
  measure,
};

async function measure(options: MeasureOptions): Promise<Measured> {
  const agents = options.isQuick ? QUICK_AGENTS : AGENTS;
  const runtime = (await createRuntime({ node: 'bench', limits: { liveActorsMax: agents * 2 } }))
    .register('mapreduce', runMachine, { perform: nothing('note', 'keepFailure') })
    .register('map-agent', mapAgentMachine, {
      perform: nothing('note', 'prepare', 'startCommand', 'signalGroup', 'killGroup', 'cleanUp'),
    });
  const rules = {
    steps: [{ type: 'shell', limitMs: null, idleLimitMs: null }],
    policy: 'per_agent',
    agentLimitMs: 3_600_000,
    termination: [{ signal: 'SIGTERM', waitMs: 30_000 }],
    enforce: true,
    runsUntimed: true,
    hasWorktree: false,
    budget: {},
    quotaExitCodes: [],
  } as const;
  const track = (runId: string, index: number) => {
    const agentId = agentIdOf('map', index, 1);
    const input = { runId, agentId, role: 'map', itemIndex: index, attempt: 1, rules } as const;
    return runtime.spawn(agentAddress(runId, agentId), { input });
  };
  await track('warm-up', 0);
  const before = await collectedMemory();
  for (let index = 0; index < agents; index++) await track('measured', index);
  const after = await collectedMemory();
  const value = Math.round((after.residentBytes - before.residentBytes) / agents);
  await runtime.stop();
  const { residentBytes } = after;
  return {
    value,
    range: [value, value],
    rounds: 1,
    details: { agents, residentBytes, run: runAddress('measured') },
    raw: { bytes: [value] },
  };
}

function nothing<TName extends string>(...names: readonly TName[]): Record<TName, () => void> {
  return Object.fromEntries(names.map((name) => [name, () => {}])) as Record<TName, () => void>;
}
