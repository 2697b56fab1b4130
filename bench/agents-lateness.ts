/**
 * Lateness of runs of agents: how long after its moment each thing happens in scenarios with short limits, with real
 * processes, one run at a time.
 *
 * What the runtime decides alone is told apart from what follows from something that an agent does: that hangs on its
 * program and its clock too.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EventRecord, runAgents } from '../programs/agents/index.ts';
import { BASE, CASES, type Case, GRACE_MS } from './agents-cases.ts';
import { standIn } from './agents-stand-in.ts';
import { median, rangeOf } from './rounds.ts';
import type { Field, Measured, MeasureOptions } from './suite.ts';

const TOLERATED_MS = 250;

export const agentLateness: Field = {
  name: 'momentLateMaxMs',
  about: `ms by which the latest decision in ${CASES.length} scenarios comes after its moment`,
  better: 'lower',
  goal: TOLERATED_MS,
  others: [
    { name: 'momentLateMedianMs', about: 'the same of the median decision', better: 'lower' },
    {
      name: 'saidLateMaxMs',
      about: 'the same of what follows from something that an agent does',
      better: 'lower',
      goal: TOLERATED_MS,
    },
    {
      name: 'earliestMs',
      about: 'the earliest decision against its moment: never below 0',
      better: 'higher',
      goal: 0,
    },
    {
      name: 'scenariosRight',
      about: 'scenarios with every moment and outcome as expected',
      better: 'higher',
      goal: CASES.length,
    },
  ],
  measure,
};

async function measure(options: MeasureOptions): Promise<Measured> {
  const rounds = options.isQuick ? 1 : Math.min(options.rounds, 5);
  const samples: Record<'max' | 'middle' | 'said' | 'earliest' | 'right', number[]> = {
    ...{ max: [], middle: [], said: [], earliest: [], right: [] },
  };
  const late: Record<string, number[]> = {};
  for (let round = 0; round < rounds; round++) {
    const played: Played[] = [];
    for (const each of CASES) {
      const found = await play(each);
      played.push(found);
      for (const { name, lateMs } of found.moments) {
        late[name] ??= [];
        late[name].push(lateMs);
      }
      options.progress(`  ${each.scenario}: ${JSON.stringify(found)}`);
    }
    const all = played.flatMap(({ moments }) => moments);
    const [own, said] = [false, true].map((isSaid) =>
      all.filter((each) => each.isSaid === isSaid).map(({ lateMs }) => lateMs),
    ) as [number[], number[]];
    samples.max.push(Math.max(...own));
    samples.middle.push(median(own));
    samples.said.push(Math.max(...said));
    samples.earliest.push(Math.min(...own));
    samples.right.push(played.filter(({ isRight }) => isRight).length);
  }
  const figure = (values: readonly number[]) => ({
    ...{ value: median(values), range: rangeOf(values), rounds },
  });
  return {
    ...figure(samples.max),
    others: {
      momentLateMedianMs: figure(samples.middle),
      saidLateMaxMs: figure(samples.said),
      earliestMs: figure(samples.earliest),
      scenariosRight: figure(samples.right),
    },
    details: { moments: late },
    raw: samples,
  };
}

interface Moment {
  readonly name: string;
  readonly lateMs: number;
  readonly isSaid: boolean;
}

interface Played {
  readonly moments: readonly Moment[];
  readonly isRight: boolean;
}

async function play(scene: Case): Promise<Played> {
  const folder = mkdtempSync(join(tmpdir(), 'escapement-bench-agents-'));
  const events: EventRecord[] = [];
  const plan = {
    name: 'run',
    slots: scene.agents.length,
    timeouts: { ...BASE, ...scene.timeouts },
    options: { terminationGraceMs: GRACE_MS, ...scene.options },
    agents: Object.fromEntries(scene.agents.map((does, at) => [`agent${at}`, standIn(does)])),
    experts: scene.expert && { expert: { command: standIn(scene.expert) } },
    tasks: scene.agents.map((_, at) => ({ id: `t${at}`, prompt: 'p', agent: `agent${at}` })),
  };
  try {
    const { tasks } = await runAgents(plan, {
      data: join(folder, 'data'),
      directory: folder,
      exitWhenBlocked: true,
      onEvent: (event) => events.push(event),
    });
    const outcomes = tasks.flatMap(({ attempts }) => attempts.map(({ outcome }) => outcome));
    const found = latenessOf(scene, events);
    const moments = found ?? [];
    const isRight =
      found !== undefined &&
      outcomes.join() === scene.outcomes.join() &&
      moments.every(({ lateMs, isSaid }) => lateMs <= TOLERATED_MS && (lateMs >= 0 || isSaid));
    return { moments, isRight };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Undefined where something happened less or more often than it should: that is no lateness. */
function latenessOf(scene: Case, events: readonly EventRecord[]): Moment[] | undefined {
  const started = events.filter(({ event }) => event === 'agent_started');
  // Where several work at once the moments are those of the run, which begins with the first.
  const isShared = scene.agents.length > 1;
  const found: Moment[] = [];
  for (const moments of [scene.moments, scene.said ?? {}])
    for (const [event, expected] of Object.entries(moments))
      for (const start of isShared ? started.slice(0, 1) : started) {
        const own = events.filter(
          (each) => each.event === event && (isShared || each.agent_id === start.agent_id),
        );
        if (own.length !== expected.length) return undefined;
        for (const [at, moment] of expected.entries())
          found.push({
            name: `${scene.scenario} ${event} ${moment}`,
            lateMs: (own[at]?.at ?? 0) - start.at - moment,
            isSaid: moments === scene.said,
          });
      }
  return found;
}
