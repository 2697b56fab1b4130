/**
 * The demo on real processes, from its command line: thirteen nodes, their data on disk, faults.
 */

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Summary } from '../../demo/summary.ts';
import { compiledProgram } from '../kit/compiled.ts';
import { StartedProcess } from '../kit/started-process.ts';

const started: StartedProcess[] = [];
let program: string;
let folder: string;

beforeAll(async () => {
  program = compiledProgram();
  folder = mkdtempSync(join(tmpdir(), 'escapement-demo-'));
});
afterAll(() => {
  for (const child of started) child.signal('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

function demo(data: string, ...args: string[]): StartedProcess {
  const words = ['demo', '--headless', '--data', data, ...args];
  const child = new StartedProcess([process.execPath, program, ...words], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  started.push(child);
  return child;
}

/** What the nodes of a folder have accepted so far, as they logged it. */
function accepted(data: string): number {
  try {
    const log = readFileSync(join(data, 'logs', 'gate.log'), 'utf8');
    return log.split('"event":"job.accepted"').length - 1;
  } catch {
    return 0;
  }
}

/** Processes whose command line names the folder; only where the system shows them as files. */
function processesOf(data: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
        return line.includes(data) ? [`${pid} ${line}`] : [];
      } catch {
        return [];
      }
    });
}

/** Given up after minutes, like all that comes from outside. */
const patient = { timeout: 120_000, interval: 100 };

describe('the demo', () => {
  test('drains on the first signal, and the next start goes on with what was open', async () => {
    const data = join(folder, 'kept');
    // With this seed the first jobs are some that last.
    const first = demo(data, '--seed', '5', '--rate', '10', '--no-faults');
    await expect.poll(() => accepted(data), patient).toBeGreaterThan(15);
    const second = demo(data);
    const refused = await second.ended;
    expect(refused.code).toBe(73);
    expect(refused.err).toMatch(/^error: Another demo, process \d+, uses .* with --data\.$/m);
    first.signal('SIGINT');
    const stopped = await first.ended;
    expect([stopped.err, stopped.code]).toEqual(['', 0]);
    expect(stopped.out).toContain('the next start goes on with them');

    const { out, err, code } = await demo(data, '--seed', '7', '--duration', '10s', '--json').ended;
    expect(err).toBe('');
    const summary: Summary = JSON.parse(out);
    expect([summary.wrong, summary.unexpectedExits, code]).toEqual([[], [], 0]);
    const { jobs, faults, takeoverMs, run } = summary;
    expect(run).toBe(2);
    expect(jobs.resumed).toBeGreaterThan(0);
    expect(jobs.submitted).toBeGreaterThan(0);
    expect([jobs.open, jobs.ended]).toEqual([0, jobs.submitted + jobs.resumed]);
    expect(faults.map(({ kind }) => kind).sort()).toEqual([
      'gateRestarted',
      'managerKilled',
      'partition',
      'workerPaused',
    ]);
    expect(takeoverMs).toHaveLength(1);
  });

  test.skipIf(process.platform !== 'linux')(
    'leaves no process behind when it is killed, also none that is paused',
    async () => {
      const data = join(folder, 'killed');
      const child = demo(data, '--duration', '10s', '--rate', '5');
      await expect.poll(() => child.out, patient).toContain('is stopped (SIGSTOP)');
      expect(processesOf(data).length).toBeGreaterThan(10);
      await child.kill();
      // Its nodes are about to end, and the next demo on the same data waits for that.
      const next = await demo(data, '--duration', '1s', '--no-faults', '--json').ended;
      expect([next.err, next.code]).toEqual(['', 0]);
      await expect.poll(() => processesOf(data), patient).toEqual([]);
    },
  );

  test('touches no folder that it did not make', async () => {
    const data = join(folder, 'of-somebody');
    mkdirSync(data);
    writeFileSync(join(data, 'thesis.txt'), 'all my work');
    const { code, err } = await demo(data, '--fresh').ended;
    expect(code).toBe(65);
    expect(err).toContain('was not made by the demo');
    expect(readdirSync(data)).toEqual(['thesis.txt']);
  });
});
