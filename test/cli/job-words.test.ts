/**
 * Words about jobs on a terminal: times in words, tables, bars, colours, and no word that acts by itself.
 */

import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { JOB_COLUMNS, WORKFLOW_COLUMNS } from '../../cli/render/job-columns.ts';
import { printJob } from '../../cli/render/job-report.ts';
import { deadlineText } from '../../cli/render/job-text.ts';
import { grouped, Output } from '../../cli/render/output.ts';
import { stateText } from '../../cli/render/state-text.ts';
import { printTable } from '../../cli/render/table.ts';
import { agoText, dueText, durationText, momentText } from '../../cli/render/time-text.ts';
import { barText } from '../../cli/render/watch-view.ts';
import type { JobView } from '../../machines/jobs/messages/client.ts';

const ESC = '\u001b';

const job: JobView = {
  jobId: 'j1',
  status: 'running',
  reason: null,
  localReason: null,
  gateReason: null,
  authority: 'gateCoordinated',
  enforce: true,
  elapsedMs: 170_400,
  timeoutMs: 300_000,
  extensionsMs: 120_000,
  dueInMs: 249_600,
  sinceProgressMs: 2_500,
  queued: false,
  leader: 'gate',
  leaderFence: 3,
  shadow: null,
  seq: 2,
  workflowsTotal: 10,
  workflowsCompleted: 3,
  workflowsFailed: 1,
  workflows: [],
  page: 1,
  pages: 1,
};

function printed(print: (output: Output) => void, env: 'plain' | 'coloured' = 'plain'): string {
  const out = new PassThrough();
  if (env === 'coloured') Object.assign(out, { isTTY: true, hasColors: () => true });
  print(new Output(out, new PassThrough()));
  return String(out.read() ?? '');
}

describe('times', () => {
  test.each([
    [0, '0s'],
    [0.4, '0s'],
    [850, '850ms'],
    [1_000, '1s'],
    [59_999, '59s'],
    [250_000, '4m 10s'],
    [240_000, '4m'],
    [3_600_000, '1h'],
    [3_905_000, '1h 5m'],
    [5_184_000_000, '60d'],
    [93_600_000, '1d 2h'],
  ])('%d ms are %s', (ms, text) => expect(durationText(ms)).toBe(text));

  test('of deadlines and of the past', () => {
    expect([dueText(null), dueText(0), dueText(-5), dueText(249_600)]).toEqual([
      '',
      'now',
      'now',
      'in 4m 10s',
    ]);
    expect([agoText(1_000, 4_000), agoText(4_000, 1_000)]).toEqual(['3s ago', 'in 3s']);
    expect(momentText(Date.UTC(2026, 2, 1, 12, 0, 3))).toBe('2026-03-01 12:00:03');
    expect(momentText(1e300)).toBe('1e+300');
  });

  test('of a deadline are an addition that is right', () => {
    expect(deadlineText(job)).toBe('5m budget + 2m added - 2m 50s elapsed = due in 4m 10s');
    const ended = { ...job, dueInMs: null, extensionsMs: 0, elapsedMs: 1_500 };
    expect(deadlineText(ended)).toBe('took 1s of 5m budget');
  });
});

test('numbers are grouped as everywhere', () => {
  for (const count of [0, 7, 999, 1_000, 12_345, 1_234_567])
    expect(grouped(count)).toBe(count.toLocaleString('en-GB'));
});

test('a bar counts down between two looks', () => {
  expect(barText(job, 9_600, 10)).toBe('███░░░░░░░ 3/10  running  1 failed  due in 4m');
  const over = { ...job, status: 'completed', workflowsCompleted: 10, dueInMs: null } as JobView;
  expect(barText(over, 0, 10)).toBe('██████████ 10/10  completed  1 failed');
  expect(barText({ ...job, workflowsTotal: 0, workflowsCompleted: 0 }, 0, 4)).toContain('░░░░ 0/0');
});

describe('a table', () => {
  const rows = [
    { name: 'a', size: '1' },
    { name: 'größer', size: '10' },
  ];
  const columns = [
    { title: 'name', text: ({ name }: (typeof rows)[number]) => name },
    { title: 'size', text: ({ size }: (typeof rows)[number]) => size, side: 'right' as const },
    { title: 'nothing', text: () => '' },
  ];

  test('is as wide as what is in it, without columns that say nothing', () => {
    expect(printed((output) => printTable(columns, rows, output))).toBe(
      'NAME    SIZE\na          1\ngrößer    10\n',
    );
    expect(printed((output) => printTable(columns, [], output))).toBe('\n');
  });

  test('has its columns where they are, coloured or not', () => {
    const print = (output: Output) => printTable(JOB_COLUMNS, [job], output);
    const coloured = printed(print, 'coloured');
    const isColoured = process.env.NO_COLOR === undefined;
    expect(coloured.includes(`${ESC}[36mrunning${ESC}[39m`)).toBe(isColoured);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are what is taken away.
    expect(coloured.replace(/\u001b\[\d+m/g, '')).toBe(printed(print));
  });
});

test('a job that waits for a worker says what it waits for, until it has ended', () => {
  const shown = (view: JobView) => printed((output) => printJob(view, output));
  const why = '  queued     no worker has the handler and enough free cores\n';
  expect(shown({ ...job, queued: true })).toContain(why);
  expect(shown(job)).not.toContain('queued');
  expect(shown({ ...job, queued: true, status: 'timedOut' })).not.toContain('queued');
});

/** H23 */
test('H23: what comes from jobs does nothing to a terminal', () => {
  const evil = `${ESC}]0;pwned\u0007\u202e`;
  const view: JobView = {
    ...job,
    jobId: evil,
    leader: evil,
    reason: evil as never,
    workflows: [
      {
        workflowId: evil,
        status: evil as never,
        attempts: 1,
        workerId: evil,
        result: null,
        truncated: false,
        error: { code: evil, detail: evil },
      },
      {
        workflowId: 'w2',
        status: 'completed',
        attempts: 1,
        workerId: null,
        result: `${evil}\nsecond line`,
        truncated: true,
        error: null,
      },
    ],
    datacenters: [
      {
        datacenter: evil,
        status: evil as never,
        reason: evil as never,
        decision: evil as never,
        contact: evil as never,
        leaderFence: 1,
        extensionsMs: 0,
        sinceProgressMs: 0,
        queued: false,
        unconfirmed: true,
      },
    ],
  };
  const text = printed((output) => {
    printJob(view, output);
    printTable(JOB_COLUMNS, [view], output);
    printTable(WORKFLOW_COLUMNS, view.workflows, output);
  });
  // biome-ignore lint/suspicious/noControlCharactersInRegex: this is what must not be there.
  expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
  expect(text).toContain('\\u001b]0;pwned\\u0007\\u202e');
  expect(text).toContain('\\u000asecond line…');
});

test('an error is told at more length than a result', () => {
  const shownOf = (error: { readonly code: string; readonly detail: string } | null): string => {
    const workflow = {
      workflowId: 'a',
      status: 'failed',
      attempts: 1,
      workerId: 'w',
      truncated: false,
    };
    const result = error === null ? 'x'.repeat(250) : null;
    const rows = [{ ...workflow, result, error }] as unknown as JobView['workflows'];
    return printed((output) => printTable(WORKFLOW_COLUMNS, rows, output));
  };
  expect(shownOf(null)).toMatch(/ x{60}…$/m);
  expect(shownOf({ code: 'Error', detail: 'x'.repeat(250) })).toMatch(/ Error: x{193}…$/m);
});

test('states within states are told in words', () => {
  expect(stateText(undefined)).toBe('');
  expect(stateText('running')).toBe('running');
  expect(stateText('{"tracking":{"a":"armed","b":"over"}}')).toBe('tracking: a armed, b over');
  expect(stateText('{broken')).toBe('{broken');
});
