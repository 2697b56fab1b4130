import { expect, test } from 'vitest';
import { Happenings } from '../../demo/happenings.ts';
import { type LogRecord, NodeProcess } from '../../demo/node-process.ts';
import { MANAGERS, NODES, type NodePlan } from '../../demo/topology.ts';

function node(name: string): NodeProcess {
  const plan = NODES.find((one) => one.name === name) as NodePlan;
  return new NodeProcess({ plan, args: [], logFile: '', onRecord: () => {}, onExit: () => {} });
}

const record = (event: string, more: Partial<LogRecord> = {}): LogRecord => ({
  ...{ time: 5_000, msg: event, event },
  ...more,
});

function said(tell: (happenings: Happenings) => void): string[] {
  const happenings = new Happenings();
  tell(happenings);
  return happenings.all.map(({ text }) => text);
}

test('a takeover is told with how long it took, and measured', () => {
  const happenings = new Happenings();
  const killed = {
    kind: 'managerKilled',
    target: 'A.manager-1',
    datacenter: 'A',
    at: 3_800,
  } as const;
  happenings.began(killed, 3_000);
  happenings.heard(node('A.manager-2'), record('node.hosting', { fence: 3 }));
  expect(happenings.all.at(-1)?.text).toBe(
    'A: manager-2 leads now (fence 3), 1.2 s after manager-1 was killed',
  );
  expect(happenings.takeoversMs).toEqual([1_200]);
});

test('what the gate says of each job of a datacenter is told once', () => {
  const silent = record('datacenter.silent', { datacenter: 'C', silentMs: 3_001 });
  const heard = record('datacenter.heard', { datacenter: 'C' });
  const gate = node('gate');
  expect(
    said((happenings) => {
      for (const one of [silent, silent, heard, heard]) happenings.heard(gate, one);
    }),
  ).toEqual(['gate: has not heard C for 3.0 s', 'gate: hears C again']);
});

test('what happens all the time is not told, and words are told for codes', () => {
  const declared = record('timeout.declared', { jobId: 'late-1-0002', reason: 'overall' });
  const granted = record('extension.granted', {
    ...{ workerId: 'B.worker-2', operationId: 'long-1-0004/film#1', extensionMs: 4_000 },
  });
  expect(
    said((happenings) => {
      happenings.heard(node('gate'), record('job.accepted', { jobId: 'short-1-0001' }));
      happenings.heard(node('gate'), declared);
      happenings.heard(node(MANAGERS[2]?.name ?? ''), granted);
    }),
  ).toEqual([
    'gate: ends late-1-0002 everywhere: its time is used up',
    'B: worker-2 gets 4.0 s more for long-1-0004',
  ]);
});

test('a node that ends by itself is trouble; one that was told to is nothing', () => {
  const exit = { how: 'exit code 70', isLocked: false, complaint: 'one\nerror: it broke\n' };
  expect(
    said((happenings) => {
      happenings.exited(node('A.worker-1'), { ...exit, isUnexpected: false });
      happenings.exited(node('A.worker-1'), { ...exit, isUnexpected: true });
    }),
  ).toEqual(['A.worker-1 has ended by itself: exit code 70, error: it broke']);
});
