/**
 * Screen of the demo: a scene as lines that fit a terminal of a given size.
 *
 * Guarantees: never more lines than the terminal has, none wider than it; all text that comes from
 * data is made printable before it is painted. Where there is little room, what matters least goes:
 * first what each kind of job is for, then the kinds.
 */

import { printable } from '../cli/render/output.ts';
import { clockTime, type Happening } from './happenings.ts';
import type { DatacenterScene, NodeState, Scene } from './scene.ts';

export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

/** Paints a text, or leaves it as it is. */
export type Paint = (format: Format, text: string) => string;
export type Format = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

/** A piece of a line: its text, and how it is painted. */
type Piece = string | readonly [Format, string];
type Line = readonly Piece[];

const HAPPENINGS_MIN = 3;
const HELP: Line = [
  ['bold', ' p '],
  ['dim', 'partition / heal  '],
  ['bold', ' k '],
  ['dim', 'kill a leader  '],
  ['bold', ' r '],
  ['dim', 'restart the gate  '],
  ['bold', ' w '],
  ['dim', 'stop a worker  '],
  ['bold', ' q '],
  ['dim', 'quit'],
];
const SHORT_HELP: Line = [
  ['bold', ' p '],
  ['dim', 'partition'],
  ['bold', '  k '],
  ['dim', 'kill'],
  ['bold', '  r '],
  ['dim', 'restart'],
  ['bold', '  w '],
  ['dim', 'worker'],
  ['bold', '  q '],
  ['dim', 'quit'],
];

export function renderScreen(scene: Scene, size: ScreenSize, paint: Paint): string[] {
  const { columns, rows } = size;
  const top: Line[] = [
    titleOf(scene),
    ...pageOf(scene),
    [],
    ...countsOf(scene),
    [],
    ...placesOf(scene, columns),
  ];
  const kinds = kindsOf(scene);
  const left = rows - 1 - top.length - HAPPENINGS_MIN - 2;
  const shown: Line[] = left >= kinds.length + 1 ? [...top, [], ...kinds] : [...top];
  const room = rows - 1 - shown.length - 2;
  const lines = shown.slice(0, rows - 1);
  if (room > 0) lines.push([], ...latest(scene.happenings, room), []);
  const help = columns >= WIDE ? HELP : SHORT_HELP;
  return [...lines, help].slice(-rows).map((line) => paintLine(line, columns, paint));
}

const FORMAT_OF: Readonly<Record<Happening['tone'], Format | undefined>> = {
  fault: 'yellow',
  good: 'green',
  plain: undefined,
  trouble: 'red',
};

function titleOf({ phase, runningMs, url }: Scene): Line {
  const minutes = Math.floor(runningMs / 60_000);
  const seconds = String(Math.floor(runningMs / 1_000) % 60).padStart(2, '0');
  const where = url === undefined ? '' : `  ${url}`;
  return [['bold', ' Escapement'], `  ${WORDS[phase]} ${minutes}:${seconds}`, ['dim', where]];
}

function pageOf({ page }: Scene): Line[] {
  return page === undefined ? [] : [[' page  ', ['cyan', page]]];
}

const WORDS: Readonly<Record<Scene['phase'], string>> = {
  starting: 'starting …',
  running: 'running',
  settling: 'waiting for the last jobs',
  stopping: 'stopping …',
};

function countsOf({ jobs }: Scene): Line[] {
  const { submitted, resumed, open, completed, failed, timedOut, cancelled, wrong } = jobs;
  const before = resumed === 0 ? '' : ` + ${resumed} of the last run`;
  return [
    [
      ...[' jobs  submitted ', ['bold', `${submitted}`] as const, before],
      ...['  open ', ['cyan', `${open}`] as const],
      ...['  ended wrongly ', [wrong === 0 ? 'green' : 'red', `${wrong}`] as const],
    ],
    [
      ...['       completed ', ['bold', `${completed}`] as const],
      ...['  failed ', ['bold', `${failed}`] as const],
      ...['  timed out ', ['bold', `${timedOut}`] as const],
      ...['  cancelled ', ['bold', `${cancelled}`] as const],
    ],
  ];
}

function placesOf({ gate, datacenters }: Scene, columns: number): Line[] {
  const isTaking = gate.fence !== undefined;
  const gateState = isTaking ? `takes jobs (fence ${gate.fence})` : stateWords(gate.state);
  return [
    [' gate  ', [isTaking ? 'green' : 'yellow', gateState]],
    ...datacenters.map((datacenter) =>
      columns >= MIDDLE ? datacenterLine(datacenter, columns >= WIDE) : shortLine(datacenter),
    ),
  ];
}

/** Columns from which on there is room for who stands by, and for what keys do. */
const WIDE = 100;
/** Columns from which on there is room for fences and for the names of workers. */
const MIDDLE = 76;

function shortLine({ name, leader, workers, isCutOff }: DatacenterScene): Line {
  return [
    ` ${printable(name)}     `,
    leader === undefined ? ['yellow', 'nobody leads'] : ['green', `${leader} leads`],
    '  workers',
    ...workers.flatMap(({ state }): Piece[] => [' ', [STATE_FORMATS[state], state]]),
    isCutOff ? ['red', '  cut off'] : '',
  ];
}

function datacenterLine(scene: DatacenterScene, isWide: boolean): Line {
  const { name, leader, fence, standbys, workers, isCutOff } = scene;
  const leads = leader === undefined ? 'nobody leads' : `${leader} leads (fence ${fence})`;
  const waits = isWide && standbys.length > 0 ? `, ${standbys.join(', ')} stands by` : '';
  const gap = ' '.repeat(Math.max(2, (isWide ? 50 : 27) - leads.length - waits.length));
  return [
    ` ${printable(name)}     `,
    [leader === undefined ? 'yellow' : 'green', leads],
    ['dim', waits],
    gap,
    ...workers.flatMap(({ name: worker, state }): Piece[] => [
      [STATE_FORMATS[state], `${worker} ${state}`],
      '  ',
    ]),
    isCutOff ? ['red', 'cut off'] : '',
  ];
}

const STATE_FORMATS: Readonly<Record<NodeState, Format>> = {
  up: 'green',
  starting: 'dim',
  paused: 'yellow',
  ending: 'dim',
  down: 'red',
};

function stateWords(state: NodeState): string {
  return state === 'up' ? 'waits for its lease' : state;
}

function kindsOf({ kinds }: Scene): Line[] {
  const head: Line = [['dim', ' job          open  right  wrong  what must come of it']];
  return [
    head,
    ...kinds.map(
      ({ name, about, open, right, wrong }): Line => [
        ` ${name.padEnd(11)}`,
        String(open).padStart(6),
        String(right).padStart(7),
        [wrong === 0 ? 'dim' : 'red', String(wrong).padStart(7)],
        ['dim', `  ${about}`],
      ],
    ),
  ];
}

/** The newest last. */
function latest(happenings: readonly Happening[], room: number): Line[] {
  return happenings.slice(-room).map(({ at, text, tone }): Line => {
    const format = FORMAT_OF[tone];
    const shown = printable(text);
    return [['dim', ` ${clockTime(at)}  `], format === undefined ? shown : [format, shown]];
  });
}

/** Cut to the width before it is painted: what paints takes no room. */
function paintLine(line: Line, columns: number, paint: Paint): string {
  let left = columns;
  let painted = '';
  for (const piece of line) {
    const [format, text] = typeof piece === 'string' ? [undefined, piece] : piece;
    const characters = [...text];
    const cut =
      characters.length > left ? [...characters.slice(0, Math.max(0, left - 1)), '…'] : characters;
    if (left <= 0) break;
    left -= cut.length;
    const shown = cut.join('');
    painted += format === undefined ? shown : paint(format, shown);
  }
  return painted;
}
