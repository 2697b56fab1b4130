/** Time limits of agents and commands, with real processes: never early, and the whole group ends. */

import { writeFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { openLmdbData } from '../../../cli/loaders/lmdb-data.ts';
import { durationText } from '../../../machines/mapreduce/words.ts';
import type { RunDocument } from '../../../programs/mapreduce/index.ts';
import { openStoredData } from '../../../programs/mapreduce/stored-data.ts';
import { statisticsOf } from '../../../programs/mapreduce/timeouts.ts';
import { escapement } from '../../cli/command-line.ts';
import { ONLY_A, ONLY_A_STUBBORN, test } from './scene.ts';

/** Long enough for what ends at once, also on a busy machine. */
const AGENT_5 = { agent_timeout_secs: 5 };
const AGENT_1 = { agent_timeout_secs: 1 };
const outcomes = ({ items }: RunDocument) => items.map(({ outcome }) => outcome);
const timeoutOf = ({ items }: RunDocument, index = 0) => items[index]?.attempts[0]?.timeout;
const elapsed = (document: RunDocument): number => timeoutOf(document)?.elapsedMs ?? 0;
const spanOf = ({ items }: RunDocument, index = 0): number => {
  const attempt = items[index]?.attempts[0];
  return (attempt?.endedAtMs ?? 0) - (attempt?.startedAtMs ?? 0);
};

describe.concurrent('the limit of an agent', () => {
  test('[2] agent_timeout_secs configuration is enforced for agent execution', async ({
    scene,
  }) => {
    // Long enough for what heeds SIGTERM, also on a busy machine.
    const timeout = { cleanup_grace_period_secs: 30 };
    const document = await scene.run({ map: AGENT_5, shell: ONLY_A, timeout });
    expect(outcomes(document)).toEqual(['dlq', 'done', 'done']);
    expect(timeoutOf(document)).toMatchObject({
      type: 'agent',
      commandIndex: null,
      commandType: null,
      configuredMs: 5_000,
      policy: 'per_agent',
      resolution: 'GracefulTermination',
      cleanup: 'CleanupCompleted',
    });
    expect(elapsed(document)).toBeGreaterThanOrEqual(5_000);
  });

  test('[3] Timed-out agents are terminated and cleaned up properly', async ({ scene }) => {
    const document = await scene.run({ map: AGENT_1, shell: ONLY_A_STUBBORN, items: ['a'] });
    expect(timeoutOf(document)).toMatchObject({ resolution: 'ForceTermination' });
    expect(spanOf(document)).toBeGreaterThanOrEqual(1_300);
    expect(scene.processesLeft()).toEqual([]);
  });

  test('[4] is followed by SIGKILL at once without a grace', async ({ scene }) => {
    const shell = `if [ \${item} = a ]; then trap "touch term" TERM; while :; do sleep 0.05; done; fi`;
    const timeout = { cleanup_grace_period_secs: 0 };
    const document = await scene.run({ map: AGENT_1, shell, timeout, items: ['a'] });
    expect(timeoutOf(document)).toMatchObject({ resolution: 'ForceTermination' });
    expect(scene.has('term')).toBe(false);
  });

  test('[17] leaves nothing of a tree behind', async ({ scene }) => {
    const shell = 'if [ ${item} = a ]; then (trap "" TERM; setsid sleep 60) & sleep 60 & wait; fi';
    expect(outcomes(await scene.run({ map: AGENT_1, shell, items: ['a'] }))).toEqual(['dlq']);
    expect(scene.processesLeft()).toEqual([]);
  });

  test('[18] begins for each retry', async ({ scene }) => {
    const shell =
      'if [ ${item} = a ] && [ "$ESCAPEMENT_ATTEMPT" = 1 ]; then sleep 5; fi; printf %s "$ESCAPEMENT_AGENT_ID"';
    const document = await scene.run({ map: { ...AGENT_5, retry: { max_attempts: 2 } }, shell });
    expect(outcomes(document)).toEqual(['done', 'done', 'done']);
    expect(document.items[0]?.attempts.map(({ outcome }) => outcome)).toEqual(['timedOut', 'done']);
    expect(document.items[0]?.output).toBe('agent-0-2');
    const data = await openStoredData(scene.data);
    expect(statisticsOf(data.stored, data.stored.runs())).toMatchObject({
      agents_started: 4,
      agents_completed: 3,
      timeouts_occurred: 1,
      timeout_rate_percent: 25,
    });
    await data.close();
  });

  test('is a share of the median of successes, from ten of them on', async ({ scene }) => {
    const items = Array.from({ length: 13 }, (_, index) => index);
    const shell = 'if [ ${item} = 11 ]; then sleep 600; fi';
    const timeout = { agent_timeout_secs: '300%' };
    const map = { agent_timeout_secs: 60 };
    const document = await scene.run({ items, shell, map, timeout }, { runId: 'r1' });
    expect(timeoutOf(document, 9)).toBeNull();
    const { stored, close } = await openStoredData(scene.data);
    const limits = items.map((index) => stored.agent('r1', `agent-${index}-1`)?.context.rules);
    await close();
    expect(limits.slice(0, 10).map((rules) => rules?.agentLimitMs)).toEqual(
      items.slice(0, 10).map(() => 60_000),
    );
    const from = { openStoredData: openLmdbData };
    const shown = await escapement(['timeouts', 'show', 'agent-11-1', '--data', scene.data], from);
    const incident = JSON.parse(shown.out);
    // On a busy machine the eleventh may be late as well.
    const { medianMs, successes } = incident.limitBasis;
    expect([10, 11]).toContain(successes);
    const configuredMs = Math.max(1_000, medianMs * 3);
    expect(incident).toMatchObject({
      message: `Agent agent-11-1 timed out after ${durationText(configuredMs)}`,
      limitBasis: { percent: 300 },
      timeout: { type: 'agent', configuredMs },
    });
    expect(incident.timeout.elapsedMs).toBeGreaterThanOrEqual(configuredMs);
    const why = await escapement(
      ['why', 'map-agent/r1/agent-11-1', '--from', scene.data, '--json'],
      from,
    );
    const basis = `300% of the median ${durationText(medianMs)} of ${successes} successes`;
    expect(why.out).toContain(basis);
    const checked = await escapement(['mapreduce', 'validate', scene.path('workflow.yml')]);
    expect(checked.out).toContain('agent 60s, then 300% of the median of successes, from 10 on\n');
  });

  test('that a command meets at the very deadline is decided once', async ({ scene }) => {
    const given = { map: { agent_timeout_secs: 0.3 }, shell: 'sleep 0.3', items: ['a'] };
    const document = await scene.run(given);
    const [item] = document.items;
    const decided = scene.eventsOf('TimeoutOccurred').length;
    expect([item?.outcome, decided]).toEqual(decided === 1 ? ['dlq', 1] : ['done', 0]);
    expect(item?.attempts).toHaveLength(1);
  });
});

describe.concurrent('after a timeout', () => {
  test('[5] an item can be skipped, without a record', async ({ scene }) => {
    const document = await scene.run({
      map: AGENT_5,
      shell: ONLY_A,
      timeout: { timeout_action: 'skip' },
    });
    expect(outcomes(document)).toEqual(['skipped', 'done', 'done']);
    expect(document.summary).toEqual({ done: 2, dlq: 0, skipped: 1, failed: 0 });
  });

  test('[7] graceful_terminate keeps a record like dlq', async ({ scene }) => {
    const timeout = { timeout_action: 'graceful_terminate' };
    const document = await scene.run({ map: AGENT_1, shell: ONLY_A, timeout, items: ['a'] });
    expect(outcomes(document)).toEqual(['dlq']);
  });

  test('[6] the whole run can fail: what runs is stopped, and no reduce follows', async ({
    scene,
  }) => {
    const shell = 'case ${item} in b) until [ -e late ]; do sleep 0.05; done;; *) sleep 600;; esac';
    const run = scene.run({
      map: { agent_timeout_secs: 600, max_parallel: 2 },
      shell,
      timeout: { timeout_action: 'fail' },
      workflow: { reduce: [{ shell: 'true' }] },
    });
    await scene.seen('AgentStarted', 2);
    // The third begins late in the time of the first, so that it has half of its own left when the run fails.
    scene.skip(300_000);
    writeFileSync(scene.path('late'), '');
    await scene.seen('AgentStarted', 3);
    scene.skip(300_000);
    const document = await run;
    expect(document.status).toBe('failed');
    expect(outcomes(document)).toEqual(['failed', 'done', 'failed']);
    expect(document.items.map(({ reason }) => reason)).toEqual(['timeout', null, 'jobFailed']);
    expect(document.reduce).toBeNull();
  });
});

describe.concurrent('Per-command timeout overrides work in agent templates', () => {
  const config = (policy: string, command_timeouts: object) => ({
    timeout: { timeout_policy: policy, command_timeouts },
    items: ['a'],
  });

  test('[8] per_command bounds each command by itself', async ({ scene }) => {
    const steps = [{ shell: 'sleep 0.3' }, { shell: 'sleep 0.3' }];
    const document = await scene.run({ ...config('per_command', { shell: 20 }), steps });
    expect(outcomes(document)).toEqual(['done']);
    expect(spanOf(document)).toBeGreaterThanOrEqual(600);
  });

  test('[9] partial results hold what was printed before', async ({ scene }) => {
    const steps = [{ shell: 'echo x' }, { shell: 'echo y; sleep 5' }];
    const document = await scene.run({
      ...config('per_command', { shell: 60, shell_1: 0.5 }),
      steps,
    });
    expect(timeoutOf(document)).toMatchObject({
      type: 'command',
      commandIndex: 1,
      commandType: 'shell',
      configuredMs: 500,
    });
    const commands = document.items[0]?.attempts[0]?.commands;
    expect(commands?.map(({ output }) => output)).toEqual(['x\n', 'y\n']);
  });

  test('[10] a key with an index comes before one of the type, and a timer ends with its command', async ({
    scene,
  }) => {
    const steps = [{ shell: 'sleep 0.1' }, { shell: 'sleep 1' }];
    const given = { ...config('per_command', { shell: 5, shell_1: 20 }), steps };
    expect(outcomes(await scene.run(given))).toEqual(['done']);
  });

  test.for([
    ['a longer limit of a command is clipped, with a warning', 5],
    ['where both fall together the timeout is of type agent', 1],
  ])('[11] [12] hybrid: %s', async ([_, shell], { scene }) => {
    const given = { ...config('hybrid', { shell }), map: AGENT_1, shell: 'sleep 3' };
    const document = await scene.run(given);
    expect(timeoutOf(document)?.type).toBe('agent');
    expect(document.warnings.some((each) => each.includes('clipped'))).toBe(shell === 5);
  });

  test('[13] a step has a limit of its own under any policy', async ({ scene }) => {
    const steps = [{ shell: 'sleep 2', timeout_secs: 0.4 }];
    const document = await scene.run({ map: { agent_timeout_secs: 5 }, steps, items: ['a'] });
    expect(timeoutOf(document)).toMatchObject({ type: 'command', configuredMs: 400 });
    expect(scene.eventsOf('TimeoutOccurred')[0]?.timeout_type).toBe('command_shell');
  });
});
