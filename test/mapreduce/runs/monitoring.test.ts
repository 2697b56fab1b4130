/** Events, alerts, shadow mode, and enforcement without an enforcer, with real processes. */

import { describe, expect } from 'vitest';
import { agentAddress, runAddress } from '../../../machines/mapreduce/addresses.ts';
import { Host } from '../../../programs/mapreduce/host.ts';
import type { TimerPort } from '../../../programs/mapreduce/index.ts';
import { followRun, inputOf, prepare, startRun } from '../../../programs/mapreduce/run.ts';
import type { Limits } from '../../../programs/mapreduce/workflow.ts';
import { ONLY_A, type Scene, test } from './scene.ts';

const AGENT_1 = { agent_timeout_secs: 1 };
const AGENT_60 = { agent_timeout_secs: 60 };
const refusing = {
  register: () => {
    throw new Error('the port is shut');
  },
  release: () => {},
};

describe.concurrent('monitoring', () => {
  test('Timeout events are logged with appropriate detail', async ({ scene }) => {
    await scene.run({ map: AGENT_1, shell: ONLY_A, items: ['a'] });
    expect(scene.events.map(({ event }) => event)).toEqual([
      'AgentStarted',
      'CommandStarted',
      'TimeoutOccurred',
      'TimeoutResolved',
      'TimeoutResolved',
    ]);
    const [started, command, occurred, resolved, cleaned] = scene.events;
    expect(started).toMatchObject({ work_item_id: 'item_0', timeout_duration_ms: 1_000 });
    expect(command).toMatchObject({ command_index: 0, timeout_duration_ms: null });
    expect(occurred).toMatchObject({
      agent_id: 'agent-0-1',
      work_item_id: 'item_0',
      timeout_type: 'agent',
      command_index: null,
      duration_ms: 1_000,
      enforced: true,
    });
    expect(resolved).toMatchObject({ resolution: 'GracefulTermination' });
    expect(cleaned).toMatchObject({ resolution: 'CleanupCompleted' });
  });

  test('[22] that is off changes nothing that is enforced', async ({ scene }) => {
    const timeout = { enable_monitoring: false };
    const document = await scene.run({ map: AGENT_1, shell: ONLY_A, timeout, items: ['a'] });
    expect(document.summary).toEqual({ done: 0, dlq: 1, skipped: 0, failed: 0 });
    expect(scene.events).toEqual([]);
  });

  test('[31] is not disturbed by a sink that throws', async ({ scene }) => {
    const onEvent = (): never => {
      throw new Error('no');
    };
    const document = await scene.run({ map: AGENT_1, shell: ONLY_A, items: ['a'] }, { onEvent });
    expect(document.summary).toMatchObject({ dlq: 1 });
  });

  /** Of twelve items three take too long, after the others are done. */
  const threeOfTwelve = async (scene: Scene, alertPercent: number): Promise<void> => {
    const run = scene.run({
      items: Array.from({ length: 12 }, (_, index) => index),
      shell: 'if [ ${item} -lt 3 ]; then sleep 600; fi',
      map: { agent_timeout_secs: 600, max_parallel: 12 },
      timeout: { alert_timeout_rate_percent: alertPercent },
    });
    await scene.seen('AgentStarted', 12);
    await scene.seen('AgentCompleted', 9);
    scene.skip(600_000);
    await run;
    expect(scene.eventsOf('TimeoutOccurred')).toHaveLength(3);
  };

  test('[32] raises an alert once, when the rate is exceeded', async ({ scene }) => {
    await threeOfTwelve(scene, 20);
    expect(scene.eventsOf('TimeoutAlert')).toMatchObject([
      { rate_percent: 25, threshold_percent: 20, agents_started: 12, timeouts_occurred: 3 },
    ]);
  });

  test('raises no alert at a rate that is allowed', async ({ scene }) => {
    await threeOfTwelve(scene, 30);
    expect(scene.eventsOf('TimeoutAlert')).toEqual([]);
  });
});

describe.concurrent('Performance impact of timeout monitoring is measurable and minimal', () => {
  /** No command is so slow on a busy machine that it is told of twice, when it has begun and when it ends. */
  const TOLD_ONCE = { spawnedToldAfterMs: 3_600_000 };

  /** Turns of a run of forty items, whose limits are as given. */
  const workOf = async (scene: Scene, limits: Partial<Limits>) => {
    const file = scene.write({
      items: Array.from({ length: 40 }, (_, index) => index),
      map: AGENT_60,
    });
    const host = await Host.open({ data: scene.data, ...TOLD_ONCE });
    const prepared = prepare(file);
    const given = { ...prepared, limits: { ...prepared.limits, ...limits } };
    const runId = await startRun(host, given, inputOf(prepared), {});
    const document = await followRun(host, runId, {});
    const agents = [...host.stored.agents(runId)].map(({ context }) => context);
    const addresses = [
      runAddress(runId),
      ...agents.map(({ agentId }) => agentAddress(runId, agentId)),
    ];
    const turns = addresses
      .flatMap((address) => host.runtime.history(address, { limit: 1_000 }))
      // Whether something of a command is left for a moment is up to the system.
      .filter(({ event }) => event !== 'cleanup.finished');
    await host.close();
    expect(document.summary.done).toBe(40);
    const armed = agents.filter(({ agentDueAt }) => agentDueAt !== null);
    return { turns: turns.length, armed: armed.length };
  };

  test('an attempt that ends in time costs no turn more than one without a limit', async ({
    scene,
  }) => {
    const limited = await workOf(scene, {});
    const free = await workOf(scene, { agentLimitMs: null });
    expect([limited.armed, free.armed]).toEqual([40, 0]);
    expect(limited.turns).toBe(free.turns);
  });
});

describe.concurrent('shadow mode', () => {
  test('[23] tells once that a limit was reached, and stops nothing', async ({ scene }) => {
    const map = { agent_timeout_secs: 0.5 };
    const given = { map, shell: 'sleep 1', items: ['a'], timeout: { enforce: false } };
    const document = await scene.run(given);
    expect(document.summary).toMatchObject({ done: 1 });
    expect(scene.eventsOf('TimeoutOccurred')).toMatchObject([
      { enforced: false, duration_ms: 500 },
    ]);
    expect(document.items[0]?.attempts[0]?.timeout).toBeNull();
  });
});

describe.concurrent('a timer port', () => {
  /** Longer than a busy machine takes to hear of the refusal: until then the limit counts. */
  const LIMIT = { agent_timeout_secs: 5 };
  const shell = 'if [ ${item} = a ]; then sleep 6; fi; printf %s ${item}';

  test('[33] that refuses leaves the agents to run untimed, each with a warning', async ({
    scene,
  }) => {
    const document = await scene.run({ map: LIMIT, shell }, { timers: refusing });
    expect(document.summary).toMatchObject({ done: 3 });
    expect(scene.eventsOf('TimeoutOccurred')).toEqual([]);
    expect(document.warnings.toSorted()).toEqual(
      ['agent-0-1', 'agent-1-1', 'agent-2-1'].map(
        (agent) => `${agent}: Failed to register timeout: the port is shut`,
      ),
    );
  });

  test.for<[string, TimerPort | null, string]>([
    ['that refuses', refusing, 'Failed to register timeout: the port is shut'],
    ['that is not there', null, 'Timeout enforcer not available'],
  ])(
    '[34] [35] %s fails the run where the workflow says so, before any command',
    async ([_, timers, why], { scene }) => {
      const timeout = { on_enforcer_failure: 'fail' };
      const given = { map: AGENT_1, shell: 'touch started', timeout };
      const document = await scene.run(given, { timers });
      expect([document.status, document.reason]).toEqual(['failed', why]);
      expect(scene.has('started')).toBe(false);
    },
  );
});
