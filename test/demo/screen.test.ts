import { describe, expect, test } from 'vitest';
import { kindOf } from '../../demo/job-kinds.ts';
import type { Scene } from '../../demo/scene.ts';
import { type Paint, renderScreen } from '../../demo/screen.ts';

const plain: Paint = (_format, text) => text;

/** As a terminal does in English at noon in London. */
const at = (seconds: number): number => new Date(2026, 10, 19, 14, 3, seconds).getTime();

const scene: Scene = {
  phase: 'running',
  runningMs: 83_000,
  url: 'http://127.0.0.1:7400',
  page: 'http://127.0.0.1:7878/',
  jobs: {
    submitted: 128,
    resumed: 0,
    open: 14,
    completed: 97,
    failed: 9,
    cancelled: 1,
    timedOut: 7,
    wrong: 0,
  },
  kinds: [
    { name: 'short', about: 'a second of work: completed', open: 9, right: 80, wrong: 0 },
    { name: 'stuck', about: 'gets nowhere: timed out', open: 5, right: 7, wrong: 1 },
  ],
  gate: { state: 'up', fence: 2 },
  datacenters: [
    {
      name: 'A',
      leader: 'manager-2',
      fence: 3,
      standbys: ['manager-1'],
      workers: [
        { name: 'worker-1', state: 'up' },
        { name: 'worker-2', state: 'paused' },
      ],
      isCutOff: true,
    },
    {
      name: 'B',
      leader: undefined,
      fence: undefined,
      standbys: [],
      workers: [{ name: 'worker-1', state: 'down' }],
      isCutOff: false,
    },
  ],
  happenings: [
    { at: at(20), tone: 'fault', text: 'A: manager-1, which leads, is killed (SIGKILL)' },
    {
      at: at(22),
      tone: 'good',
      text: 'A: manager-2 leads now (fence 3), 1.2 s after manager-1 was killed',
    },
  ],
};

describe('the screen of the demo', () => {
  test('shows the jobs, the nodes, the kinds, what happened last, and the keys', () => {
    expect(renderScreen(scene, { columns: 100, rows: 40 }, plain)).toEqual([
      ' Escapement  running 1:23  http://127.0.0.1:7400',
      ' page  http://127.0.0.1:7878/',
      '',
      ' jobs  submitted 128  open 14  ended wrongly 0',
      '       completed 97  failed 9  timed out 7  cancelled 1',
      '',
      ' gate  takes jobs (fence 2)',
      ' A     manager-2 leads (fence 3), manager-1 stands by    worker-1 up  worker-2 paused  cut off',
      ' B     nobody leads                                      worker-1 down  ',
      '',
      ' job          open  right  wrong  what must come of it',
      ' short           9     80      0  a second of work: completed',
      ' stuck           5      7      1  gets nowhere: timed out',
      '',
      ' 14:03:20  A: manager-1, which leads, is killed (SIGKILL)',
      ' 14:03:22  A: manager-2 leads now (fence 3), 1.2 s after manager-1 was killed',
      '',
      ' p partition / heal   k kill a leader   r restart the gate   w stop a worker   q quit',
    ]);
  });

  test.each([
    [100, 16],
    [80, 24],
    [40, 10],
    [20, 5],
    [3, 2],
    [1, 1],
  ])('fits %i columns and %i rows', (columns, rows) => {
    const many = Array.from({ length: 100 }, (_, n) => ({
      at: at(n % 60),
      tone: 'plain' as const,
      text: `number ${n}`,
    }));
    const lines = renderScreen({ ...scene, happenings: many }, { columns, rows }, plain);
    expect(lines.length).toBeLessThanOrEqual(rows);
    for (const line of lines) expect([...line].length).toBeLessThanOrEqual(columns);
  });

  test('leaves out who stands by where the line would be too long', () => {
    const lines = renderScreen(scene, { columns: 80, rows: 24 }, plain);
    expect(lines).toContain(
      ' A     manager-2 leads (fence 3)  worker-1 up  worker-2 paused  cut off',
    );
  });

  test('says the same in fewer words where there is little room', () => {
    const lines = renderScreen(scene, { columns: 60, rows: 20 }, plain);
    expect(lines).toContain(' A     manager-2 leads  workers up paused  cut off');
    expect(lines.at(-1)).toBe(' p partition  k kill  r restart  w worker  q quit');
    for (const line of [...lines.slice(0, 9), lines.at(-1)]) expect(line).not.toContain('…');
  });

  test('keeps what happens where there is no room for the kinds of jobs', () => {
    const text = renderScreen(scene, { columns: 80, rows: 14 }, plain).join('\n');
    expect(text).toContain('manager-2 leads now');
    expect(text).not.toContain('what must come of it');
  });

  test('H23: shows text from data as text, whatever it says to the terminal', () => {
    const evil = 'job \u001b[2J\u001b]0;owned\u0007\u202e';
    const shown = renderScreen(
      { ...scene, happenings: [{ at: at(1), tone: 'plain', text: evil }] },
      { columns: 100, rows: 30 },
      plain,
    ).join('\n');
    for (const control of ['\u001b', '\u0007', '\u202e']) expect(shown).not.toContain(control);
    expect(shown).toContain('job \\u001b[2J');
  });

  test('paints by a function that it is given, and cuts before it paints', () => {
    const paint: Paint = (format, text) => `<${format}>${text}</>`;
    const [title] = renderScreen(scene, { columns: 8, rows: 30 }, paint);
    expect(title).toBe('<bold> Escape…</>');
  });
});

test('the kind of a job is in its id', () => {
  expect(kindOf('stuck-3-0017')?.name).toBe('stuck');
  expect(kindOf('stuck-of-somebody')).toBeUndefined();
  expect(kindOf('strange-3-0017')).toBeUndefined();
});
