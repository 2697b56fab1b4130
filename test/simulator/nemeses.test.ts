/** Every nemesis alone, on a small cluster with two jobs: it changes something, ends, and repeats. */

import { describe, expect, test } from 'vitest';
import type { Nemesis } from '../../simulator/faults/nemesis.ts';
import type { HistoryRecord } from '../../simulator/history/history.ts';
import { JOBS_MENU } from '../../simulator/jobs/faults/menu.ts';
import type { Plan } from '../../simulator/jobs/plan.ts';
import { play, type Run } from '../../simulator/jobs/run.ts';

type Given = Partial<Pick<Nemesis, 'atMs' | 'durMs' | 'targets' | 'params'>>;

const UNTIL_MS = 120_000;
/** j1 is over time in this moment, everywhere. */
const OVERDUE_MS = 40_000;
/** What was under way when a nemesis ended may still come to grief. */
const SETTLES_MS = 1_000;

/** How each kind is tried. Without targets most mean the whole cluster. */
const TRIALS: Readonly<Record<string, Given>> = {
  swizzleClog: { params: { share: 0.5 } },
  lateFrames: { params: { shape: 'exponential', meanMs: 500 } },
  lostFrames: { params: { share: 0.3 } },
  repeatedFrames: { params: { share: 0.5, withinMs: 2_000, outlives: true } },
  reorderedFrames: { params: { share: 0.5, withinMs: 1_000 } },
  damagedFrames: { params: { share: 0.3 } },
  slowConsumer: { targets: ['gate-1'], params: { bytesPerSecond: 300 } },
  connectionResets: { targets: ['A.manager-1'], params: { everyMs: 700 } },
  deafLeader: { targets: ['A'], params: { isMute: false } },
  isolateNodes: { targets: ['A.worker-1', 'B.manager-1'], params: { how: 'cut', board: true } },
  isolateLeader: { targets: ['A'], params: { how: 'silent', board: true } },
  isolateGateAtDeclaration: { targets: ['A'], params: { forMs: 10_000, how: 'cut' } },
  partition: { params: { shape: 'ring', how: 'cut' } },
  partDatacenters: { targets: ['B'], params: { how: 'half' } },
  boardOutage: { targets: ['A'], params: { share: 1 } },
  flapping: { targets: ['B.manager-1'], params: { partedMs: 3_000, wholeMs: 500, how: 'cut' } },
  crashNodes: { targets: ['gate-1', 'A.manager-1', 'B.worker-1'], params: { apart: true } },
  crashLoop: { targets: ['A.worker-1'], params: { upMs: 3_000, downMs: 200 } },
  powerCut: {},
  rollingRestart: { targets: ['A'], params: { downMs: 1_000, upMs: 2_000 } },
  pauseLeader: { targets: ['A'], durMs: 7_000 },
  lateCommit: { targets: ['A'], durMs: 20_000, params: { holdsMs: 9_000, minWrites: 1 } },
  pauseNodes: { targets: ['gate-1', 'B.manager-1'] },
  stallAtDeadline: { targets: ['A'], params: { stallMs: 2_000, beforeMs: 1 } },
  crashAtDeadline: { params: { offsetMs: 0, downMs: 500 } },
  pauseAtDeadline: { params: { offsetMs: -1, downMs: 500 } },
  stepClockAtDeadline: { params: { offsetMs: 1, downMs: 500, byMs: 1_000 } },
  slowNodes: { params: { factor: 100 } },
  killAtFailpoint: {
    params: { point: 'afterSend', message: 'final.reported', times: 2, downMs: 9 },
  },
  killBetweenGrantAndCount: {
    targets: ['A.worker-1'],
    params: { everyMs: 5_000, times: 1, downMs: 500 },
  },
  killBetweenDeclarationAndBroadcast: { params: { times: 1, downMs: 300 } },
  killBeforeAcknowledgement: { params: { times: 1, downMs: 300 } },
  workerDiesAfterGrant: {
    targets: ['A.worker-1', 'B.worker-1'],
    params: { everyMs: 3_000, times: 2, downMs: 500 },
  },
  stepLeaderClock: { targets: ['A'], params: { byMs: 39_000, downMs: 100 } },
  driftedTakeover: { targets: ['A'], params: { byMs: -50_000, ppm: 9_000 } },
  driftingClocks: { params: { ppm: -10_000 } },
  slowDisk: { targets: ['A'], params: { meanMs: 300, isEven: true } },
  stalledDisk: { targets: ['gate-1'] },
  fullDisk: { targets: ['A'], params: { reason: 'ENOSPC', every: 3, share: 1 } },
  failedFlush: { targets: ['A'], params: { end: 'split', powerCut: true } },
  splitGroup: { targets: ['A'], params: { times: 2, downMs: 100 } },
  damagedRecord: { targets: ['A'], params: { isMissing: true } },
  gateOutage: { targets: ['gate-1'], params: { outageMs: 9_000, isAtReport: true, how: 'cut' } },
  forgetfulGate: { targets: ['gate-1'], params: { downMs: 500 } },
  configReload: {
    targets: ['gate-1'],
    params: { option: 'leaseJitterMs', value: 10, isAtDecision: true },
  },
  boundaryJitter: {
    params: { limit: 'overallLimit', offsetMs: 0, windowMs: 9_000, cancels: false },
  },
  everythingAtOnce: { params: { windowMs: 9_000 } },
  extensionStorm: { params: { beforeMs: 50, requests: 3 } },
  progressStarvation: { params: { atGate: false } },
  delayedDuplicate: { params: { after: 'terminal', delayMs: 100 } },
  buggify: {
    params: {
      frameTwice: true,
      acknowledgementDropped: true,
      hintDropped: true,
      commitRefused: true,
      commitDelayed: true,
      timerLate: true,
    },
  },
  overload: {
    targets: ['gate-1'],
    params: { everyMs: 300, jobs: 20, timeoutMs: 10_000, runsMs: 1_000 },
  },
  reconnectHerd: { params: { clients: 10, everyMs: 4_000 } },
  partedSubmission: {
    targets: ['gate-1', 'A', 'B'],
    params: { jobs: 1, everyMs: 1, at: 'submission', runsMs: 1_000, forMs: 12_000, how: 'cut' },
  },
  gateAwayAfterReport: {
    durMs: 80_000,
    targets: ['gate-1', 'A'],
    params: { awayMs: 20_000, how: 'cut' },
  },
  silentAfterStall: {
    durMs: 80_000,
    targets: ['gate-1', 'A'],
    params: { stallMs: 20_000, how: 'cut' },
  },
  takeoverAtDeclaration: { durMs: 80_000, targets: ['A', 'gate-1'], params: { downMs: 100 } },
  partedDeclaration: {
    durMs: 80_000,
    targets: ['A', 'gate-1'],
    params: { forMs: 20_000, how: 'cut' },
  },
  wordBehindHistory: {
    durMs: 80_000,
    targets: ['gate-1', 'A'],
    params: { what: 'end', how: 'cut', awayMs: 45_000 },
  },
  starvedHeartbeats: {
    durMs: 50_000,
    targets: ['A.worker-1'],
    params: { everyMs: 3_000 },
  },
  silentAtWork: {
    durMs: 50_000,
    targets: ['A.worker-1'],
    params: { everyMs: 3_000, runsMs: 500, how: 'crash' },
  },
  throwingOnlookers: { params: { watch: 'both', everyMs: 500 } },
  byzantinePeer: { params: { as: 'worker', datacenter: 'A', everyMs: 50 } },
};

function planWith(nemesis: Nemesis): Plan {
  return {
    version: 1,
    name: nemesis.kind,
    system: 'jobs',
    seed: 11,
    untilMs: UNTIL_MS,
    network: { delayMs: [1, 20], loss: 0, duplicate: 0, reorder: 0 },
    topology: {
      gates: 1,
      datacenters: { A: { managers: 2, workers: 2 }, B: { managers: 1, workers: 1 } },
    },
    config: {},
    steps: [
      {
        atMs: 0,
        do: 'submit',
        job: {
          jobId: 'j1',
          to: 'gate-1',
          timeoutMs: OVERDUE_MS,
          workflows: [
            { id: 'w1', runsMs: null },
            { id: 'w2', runsMs: 20_000 },
          ],
        },
      },
      {
        atMs: 100,
        do: 'submit',
        job: {
          jobId: 'j2',
          to: 'A',
          timeoutMs: 600_000,
          workflows: [
            { id: 'w1', runsMs: 33_000 },
            { id: 'w2', runsMs: 20_000, dependsOn: ['w1'] },
          ],
        },
      },
    ],
    nemeses: [nemesis],
    healAtMs: null,
  };
}

function trial(kind: string, given: Given = {}): Plan {
  const { atMs = 30_000, durMs = 25_000, targets = [], params = {} } = given;
  return planWith({ id: 'n1', kind, atMs, durMs, targets, params });
}

/** The same cluster and work; the nemesis would begin after the end. */
const quiet = play(trial('powerCut', { atMs: UNTIL_MS + 1 }), { invariants: [] });

const faultsOf = ({ history }: Run) =>
  history.records.flatMap((record) =>
    record.type === 'fault' && record.id === 'n1' ? [record] : [],
  );

/** Nodes that are not as they were: of each the last that was heard. */
function absent({ history }: Run): string[] {
  const last = new Map<string, string>();
  for (const record of history.records)
    if (record.type === 'node') last.set(record.node, record.change);
  return [...last]
    .filter(([, change]) => /crashed|stopped|paused/.test(change))
    .map(([node]) => node);
}

const isTrouble = (record: HistoryRecord): boolean =>
  (record.type === 'frame' && /lost|held|damaged|repeated/.test(record.change)) ||
  (record.type === 'commit' && record.change !== 'settled');

describe('every kind on the menu', () => {
  test('is tried here', () => {
    expect(Object.keys(TRIALS).sort()).toEqual(JOBS_MENU.map(({ kind }) => kind).sort());
  });

  test('says what it does in a sentence', () => {
    expect(JOBS_MENU.filter(({ says }) => !/^[A-Z].*\.$/.test(says))).toEqual([]);
  });
});

describe.each(Object.entries(TRIALS))('%s', (kind, given) => {
  let first: Promise<Run> | undefined;
  const played = (): Promise<Run> => {
    first ??= play(trial(kind, given));
    return first;
  };

  test('changes what happens, ends, and leaves nothing behind', async () => {
    const run = await played();
    const faults = faultsOf(run);
    expect(faults[0]?.change).toBe('began');
    expect(faults.at(-1)?.change).toBe('ended');
    expect(faults.filter(({ change }) => change === 'hit').length).toBeGreaterThan(0);
    expect(run.traceHash).not.toBe((await quiet).traceHash);
    expect(absent(run)).toEqual([]);
    const endedAtMs = faults.at(-1)?.atMs ?? 0;
    const late = run.history.records.filter(({ atMs }) => atMs > endedAtMs + SETTLES_MS);
    expect(late.filter(isTrouble)).toEqual([]);
  });

  test('is the same again', async () => {
    const { traceHash } = await play(trial(kind, given), { invariants: [] });
    expect(traceHash).toBe((await played()).traceHash);
  });

  test('breaks no invariant', async () => {
    expect((await played()).judgement.violations).toEqual([]);
  });
});

describe('a nemesis', () => {
  test('that cannot do anything when it comes is told as not effective', async () => {
    const plan = trial('pauseNodes', { targets: ['gate-1'], atMs: 30_001, durMs: 100 });
    const { nemeses } = trial('powerCut');
    const before = nemeses.map((nemesis) => ({ ...nemesis, id: 'n0' }));
    const run = await play({ ...plan, nemeses: [...before, ...plan.nemeses] }, { invariants: [] });
    expect(faultsOf(run).map(({ change }) => change)).toEqual(['began', 'ended']);
  });

  test('lets nobody stand still who is down', async () => {
    const frozen = { what: 'end', how: 'frozen', awayMs: 45_000 };
    const plan = trial('wordBehindHistory', {
      durMs: 60_000,
      targets: ['gate-1', 'A'],
      params: frozen,
    });
    const [nemesis] = trial('crashNodes', {
      atMs: 31_000,
      durMs: 60_000,
      targets: ['gate-1'],
    }).nemeses;
    const down = { ...(nemesis as Nemesis), id: 'n2' };
    const run = await play({ ...plan, nemeses: [...plan.nemeses, down] }, { invariants: [] });
    expect(faultsOf(run).map(({ change }) => change)).toEqual(['began', 'ended']);
  });

  test('that repeats messages does not say that a node sent them that has lost its disk', async () => {
    const copies = trial('delayedDuplicate', {
      atMs: 1,
      durMs: 60_000,
      params: { after: 'gateRestart', delayMs: 50 },
    });
    const forgets = trial('forgetfulGate', { targets: ['gate-1'], params: { downMs: 500 } });
    const gone = forgets.nemeses.map((nemesis) => ({ ...nemesis, id: 'n2', atMs: 50_000 }));
    const run = await play({ ...copies, nemeses: [...copies.nemeses, ...gone] });
    const isOld = (record: HistoryRecord) =>
      record.type === 'frame' && record.change === 'repeated' && record.node === 'gate-1';
    expect(run.history.records.some(isOld)).toBe(true);
    expect(run.judgement.violations).toEqual([]);
  });

  test('that is on no menu is refused before anything begins', async () => {
    await expect(play(trial('meteorite'))).rejects.toThrow('There is no nemesis "meteorite"');
  });
});
