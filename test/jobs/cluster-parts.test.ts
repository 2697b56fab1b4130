/** The parts of the cluster harness, each by itself: what a script says is what happens. */

import { describe, expect, test } from 'vitest';
import { setup } from 'xstate';
import { createRuntime } from '../../create-runtime.ts';
import { electedLease } from '../../programs/elected-lease.ts';
import { jobsPeer } from '../../programs/jobs/peer-roles.ts';
import {
  type HandlerScript,
  type ScriptedContext,
  scriptedHandler,
} from '../../simulator/jobs/scripted-handler.ts';
import { LeaseOffice } from '../../simulator/world/lease-office.ts';
import { simulatedNetwork } from '../../simulator/world/network/network.ts';
import { SeededRandom } from '../../simulator/world/random.ts';
import { memoryStore } from '../../stores/memory.ts';
import { Member, type MemberPorts } from './cluster/member.ts';
import { Passport } from './cluster/passport.ts';
import { placeOfNode } from './cluster/plan.ts';
import { isAt, Recorder } from './cluster/recorder.ts';
import { ScriptTime } from './cluster/script-time.ts';

describe('the time of a script', () => {
  test('does things at their moments, and waits for what they return', async () => {
    const time = new ScriptTime();
    await time.runFor(12_345);
    time.begin();
    const log: Array<readonly [string, number]> = [];
    time.at(2_000, () => log.push(['late', time.now()]));
    time.at(1_000, async () => {
      await time.clock.now();
      log.push(['early', time.now()]);
    });
    await time.runUntil(3_000);
    expect(log).toEqual([
      ['early', 1_000],
      ['late', 2_000],
    ]);
    expect(time.now()).toBe(3_000);
    expect(() => time.at(2_999, () => {})).toThrow(RangeError);
  });

  test('tells of an action that failed', async () => {
    const time = new ScriptTime();
    time.at(10, () => {
      throw new Error('no such node');
    });
    await expect(time.runUntil(20)).rejects.toThrow('no such node');
  });

  test('waits no longer than it was told', async () => {
    const time = new ScriptTime();
    await expect(time.until('it rains', () => false, 500)).rejects.toThrow('it rains');
  });

  test('names what it stands still for, and does not hang', async () => {
    const time = new ScriptTime([{ isBusy: true, underWay: 'a connection of a and b' }], 10);
    await expect(time.runFor(20)).rejects.toThrow('does not end: a connection of a and b');
  });
});

describe('a passport', () => {
  const { clock } = new ScriptTime();
  const network = simulatedNetwork({ clock, random: new SeededRandom(1), delayMs: 50 });

  test.each([
    ['client~1', 'client', 'client~1'],
    ['modest~2', 'client', 'modest~2'],
    ['A.worker-1', 'worker', 'A.worker-1'],
    ['A.manager-2', 'manager', 'A'],
    ['gate-1', 'gate', 'gate-1'],
    ['thing', 'node', 'thing'],
  ] as const)('says that %s is a %s', (node, role, place) => {
    expect(new Passport(network, false).identityOf(node)).toEqual(jobsPeer(role, place));
  });
});

describe('a scripted handler', () => {
  async function play(script: HandlerScript, options: { run?: number; abortAt?: number } = {}) {
    const time = new ScriptTime();
    const { run = 1, abortAt } = options;
    const abort = new AbortController();
    const reports: Array<readonly [atMs: number, progress: unknown]> = [];
    const running = new Set<ScriptedContext>();
    const context: ScriptedContext = {
      jobId: 'j1',
      workflowId: 'w1',
      run,
      payload: JSON.stringify(script),
      signal: abort.signal,
      progress: (progress) => reports.push([time.now(), progress]),
    };
    let end: unknown;
    const handle = scriptedHandler(time.clock, running, 'A');
    handle(context).then(
      (result) => {
        end = [time.now(), result];
      },
      (thrown) => {
        end = [
          time.now(),
          (thrown as Error).message,
          (thrown as { retryable?: boolean }).retryable,
        ];
      },
    );
    if (abortAt !== undefined) time.at(abortAt, () => abort.abort(new Error('cancelled')));
    await time.runUntil(100_000);
    return { end, reports, isRunning: running.size > 0 };
  }

  test('works as long as it needs, and progresses', async () => {
    const { end, reports, isRunning } = await play({ runs: 12_000 });
    expect(end).toEqual([12_000, 'done']);
    expect(reports).toEqual([
      [5_000, 5 / 12],
      [10_000, 10 / 12],
    ]);
    expect(isRunning).toBe(false);
  });

  test('progresses no more after its last report, and never finishes', async () => {
    const { end, reports, isRunning } = await play({ stopsProgressAt: 15_000 });
    expect(end).toBeUndefined();
    expect(reports.map(([atMs]) => atMs)).toEqual([5_000, 10_000, 15_000]);
    expect(reports.map(([, progress]) => progress)).toEqual([1 / 2, 2 / 3, 3 / 4]);
    expect(isRunning).toBe(true);
  });

  test('reports items, or nothing', async () => {
    const items = await play({ runs: 10_000, completesItems: 50 });
    expect(items.reports[0]?.[1]).toEqual({ progress: 0.5, completedItems: 25, totalItems: 50 });
    expect((await play({ runs: 10_000, progressEvery: 'never' })).reports).toEqual([]);
  });

  test('does what is said of its datacenter', async () => {
    const script: HandlerScript = { runs: 5_000, result: 'x', in: { A: { runs: 7_000 }, B: {} } };
    expect((await play(script)).end).toEqual([7_000, 'x']);
  });

  test('fails so often before it succeeds', async () => {
    const script: HandlerScript = { runs: 1_000, failsTimes: 2 };
    const { end } = await play(script, { run: 2 });
    expect(end).toEqual([1_000, 'Run 2 of w1 fails.', true]);
    expect((await play(script, { run: 3 })).end).toEqual([1_000, 'done']);
    const fatal = await play({ failsTimes: 1, isFatal: true });
    expect(fatal.end).toEqual([0, 'Run 1 of w1 fails.', false]);
  });

  test('stops when it is cancelled, or some time after, or does not heed it', async () => {
    const at = (script: HandlerScript) => play({ runs: 60_000, ...script }, { abortAt: 25_000 });
    expect((await at({})).end).toEqual([25_000, 'cancelled', undefined]);
    expect((await at({ stopsAfter: 2_000 })).end).toEqual([27_000, 'cancelled', undefined]);
    expect((await at({ ignoresCancel: true })).end).toEqual([60_000, 'done']);
  });
});

/** Nodes that only hold a lease, as managers do. */
async function startMembers(nodes: readonly string[], isAppointed: boolean) {
  const time = new ScriptTime();
  const { clock } = time;
  const recorder = new Recorder(
    () => clock.now(),
    (at) => time.sinceBegin(at),
  );
  const office = new LeaseOffice(clock);
  const network = simulatedNetwork({ clock, random: new SeededRandom(1), delayMs: 50 });
  const surroundings = {
    clock,
    network,
    join: (node: string) => network.join(node),
    office,
    seed: 1,
    logger: (node: string) => recorder.logger(node),
  };
  const store = memoryStore();
  const rules = { leaseMs: 6_000, leaseRenewMs: 2_000, leaseMarginMs: 500, leaseJitterMs: 1_000 };
  const machine = setup({}).createMachine({ id: 'thing' });
  const begin = (node: string) => async (ports: MemberPorts) => {
    const { counter, ...rest } = ports;
    const lease = electedLease({ node, leaseStore: counter.leaseStore, rules, ...rest });
    const runtime = await createRuntime({
      node,
      place: 'A',
      lease,
      ...rest,
      kinds: { thing: machine },
    });
    return { runtime, stop: () => runtime.stop() };
  };
  if (isAppointed) office.appoint('A', nodes[0] ?? '');
  const members = nodes.map((node) => new Member(node, surroundings, () => store, begin(node)));
  for (const member of members) await time.during(member.start());
  await time.runFor(5_000);
  time.begin();
  const hosting = () =>
    members.flatMap((member) =>
      member.isRunning && member.program.runtime.isHosting
        ? [`${member.node} ${member.program.runtime.fence}`]
        : [],
    );
  return { time, recorder, office, network, members, hosting };
}

describe('members of a cluster', () => {
  const nodes = ['A.manager-1', 'A.manager-2'] as const;

  test('elect another one within 10 s of a crash', async () => {
    const { time, members, hosting, recorder } = await startMembers(nodes, false);
    time.at(20_000, () => members[0]?.crash());
    await time.runUntil(25_000);
    expect(hosting()).toEqual([]);
    await time.runUntil(30_000);
    expect(hosting()).toEqual(['A.manager-2 2']);
    expect(recorder.errors()).toEqual([]);
  });

  test('lead when the script says so, and not before', async () => {
    const { time, members, office, hosting } = await startMembers(nodes, true);
    time.at(100_000, () => members[0]?.crash());
    time.at(118_000, () => office.appoint('A', nodes[1]));
    await time.runUntil(117_999);
    expect(hosting()).toEqual([]);
    await time.runUntil(118_000);
    expect(hosting()).toEqual(['A.manager-2 2']);
  });

  test('lose the lease at the moment another one is appointed', async () => {
    const { time, office, hosting } = await startMembers(nodes, true);
    time.at(50_000, () => office.appoint('A', nodes[1]));
    time.at(60_000, () => office.appoint('A', nodes[0]));
    const seen: string[][] = [];
    for (const atMs of [49_999, 50_000, 59_999, 60_000]) {
      await time.runUntil(atMs);
      seen.push(hosting());
    }
    const [one, two, three] = ['A.manager-1 1', 'A.manager-2 2', 'A.manager-1 3'];
    expect(seen).toEqual([[one], [two], [two], [three]]);
  });

  test('come back with their store, which outranks them', async () => {
    const { time, members, hosting } = await startMembers(nodes.slice(0, 1), true);
    members[0]?.crash();
    expect(members[0]?.isRunning).toBe(false);
    expect(() => members[0]?.program).toThrow('is down');
    await time.runUntil(10_000);
    await time.during(members[0]?.start() ?? Promise.resolve());
    expect(hosting()).toEqual(['A.manager-1 2']);
  });

  test('that are paused lose the lease to another one, and know it when they wake', async () => {
    const { time, members, hosting } = await startMembers(nodes, false);
    time.at(100_000, () => members[0]?.pause(60_000));
    await time.runUntil(115_000);
    expect(hosting()).toContain('A.manager-2 2');
    await time.runUntil(160_000);
    expect(hosting()).toEqual(['A.manager-2 2']);
  });

  test('that are paused twice wake when the longer pause is over', async () => {
    const { time, members, hosting } = await startMembers(nodes, false);
    time.at(100_000, () => members[0]?.pause(60_000));
    time.at(101_000, () => members[0]?.pause(1_000));
    await time.runUntil(159_000);
    expect(hosting()).toContain('A.manager-1 1');
    await time.runUntil(161_000);
    expect(hosting()).toEqual(['A.manager-2 2']);
  });

  test('follow when they do not reach the lease store', async () => {
    const { time, members, hosting } = await startMembers(nodes, false);
    time.at(10_000, () => members[0]?.reachLeaseStore(false));
    await time.runUntil(20_000);
    expect(hosting()).toEqual(['A.manager-2 2']);
  });
});

test('what happens at t happens in the second after it', () => {
  expect([60_000, 60_001, 61_000, 61_001].map((atMs) => isAt(atMs, 60))).toEqual([
    false,
    true,
    true,
    false,
  ]);
  expect(isAt(undefined, 60)).toBe(false);
});

test('managers have the data of their datacenter, others their own', () => {
  const nodes = ['A.manager-2', 'A.worker-1', 'gate-1'];
  expect(nodes.map(placeOfNode)).toEqual(['A', 'A.worker-1', 'gate-1']);
});
