/** Report of a suite's run, for machines (one JSON object) and for people (a table). */

import { readFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { rounded } from './rounds.ts';
import type { Field, Figure, Measured, MeasuredFigure, MeasureOptions, Suite } from './suite.ts';

/** A figure from fewer rounds is for development only. */
const REPORTED_ROUNDS_MIN = 5;

/** What was asked for. */
type Asked = Pick<MeasureOptions, 'rounds' | 'isQuick' | 'sizes' | 'parts'>;

export interface Outcome {
  readonly field: Field;
  readonly measured: Measured;
}

export function jsonOf(
  suite: Suite,
  outcomes: readonly Outcome[],
  options: Asked,
): Record<string, unknown> {
  const isReported = noteOf(options) === undefined;
  const byField = <T>(make: (outcome: Outcome) => T): Record<string, T> =>
    Object.fromEntries(outcomes.map((outcome) => [outcome.field.name, make(outcome)]));
  const all = outcomes.flatMap(figuresOf);
  const figures = Object.fromEntries(
    all.map(({ figure, measured }) => [
      figure.name,
      {
        value: measured.value,
        goal: figure.goal,
        stretch: figure.stretch,
        ok: isOk(figure, measured),
        verdict: verdictOf(figure, measured),
        range: measured.range.map(rounded),
        rounds: measured.rounds,
      },
    ]),
  );
  return {
    suite: suite.name,
    ...(isReported ? valuesOf(all) : { notReported: noteOf(options) }),
    [isReported ? 'figures' : 'draft']: figures,
    machine: machine(),
    rounds: options.rounds,
    method:
      'interleaved, rotated order, one warm-up, collection before each; median of per-round ratios',
    details: byField(({ measured }) => measured.details),
    raw: byField(({ measured }) => measured.raw),
  };
}

export function tableOf(suite: Suite, outcomes: readonly Outcome[], options: Asked): string {
  const { cpu, cores, node, xstate } = machine();
  const note = noteOf(options);
  const lines = [
    `${suite.name}: ${suite.about}`,
    `${cpu}, ${cores} cores, Node ${node}, xstate ${xstate}, ${options.rounds} rounds, interleaved`,
    ...(note === undefined ? [] : [`NOT TO BE REPORTED: ${note}`]),
    '',
    row('', 'value', 'range', 'goal', 'stretch', ''),
  ];
  for (const outcome of outcomes) {
    for (const figured of figuresOf(outcome)) lines.push(...figureLines(figured));
    for (const [key, detail] of Object.entries(outcome.measured.details))
      lines.push(...detailLines(key, detail));
  }
  return `${lines.join('\n')}\n`;
}

interface Figured {
  readonly figure: Figure;
  readonly measured: MeasuredFigure;
}

/** The field's own figure, and those that were measured with it. */
function figuresOf({ field, measured }: Outcome): Figured[] {
  const others = (field.others ?? []).map((figure) => {
    const other = measured.others?.[figure.name];
    if (other === undefined) throw new Error(`${field.name} did not measure ${figure.name}.`);
    return { figure, measured: other };
  });
  return [{ figure: field, measured }, ...others];
}

/** `engine.rate` becomes `rate` in an object called `engine`. */
function valuesOf(all: readonly Figured[]): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const { figure, measured } of all) {
    const [first = '', second] = figure.name.split('.');
    if (second === undefined) values[first] = measured.value;
    else values[first] = { ...(values[first] as object | undefined), [second]: measured.value };
  }
  return values;
}

function figureLines({ figure, measured }: Figured): string[] {
  const { name, about, better, goal, stretch } = figure;
  const sign = better === 'higher' ? '≥' : '≤';
  const [lowest, highest] = measured.range.map(short);
  const verdict = verdictOf(figure, measured) ?? '';
  const target = (value: number | undefined): string =>
    value === undefined ? '' : `${sign} ${value}`;
  const range = `${lowest} – ${highest}`;
  return [
    row(name, short(measured.value), range, target(goal), target(stretch), verdict),
    `    ${about}`,
  ];
}

/** Undefined where there is no goal. */
function isOk({ better, goal }: Figure, { value }: MeasuredFigure): boolean | undefined {
  if (goal === undefined) return undefined;
  return better === 'higher' ? value >= goal : value <= goal;
}

/** Undefined where there is no goal. A range wider than the goal says nothing about it. */
function verdictOf(figure: Figure, measured: MeasuredFigure): string | undefined {
  const isMet = isOk(figure, measured);
  if (isMet === undefined) return undefined;
  const [lowest, highest] = measured.range;
  if (highest - lowest > Math.abs(figure.goal as number)) return 'inconclusive';
  return isMet ? 'ok' : 'missed';
}

/** Why the figures are not to be reported; undefined where they are. */
function noteOf({ isQuick, rounds, sizes, parts }: Asked): string | undefined {
  if (isQuick) return 'scaled down with --quick';
  const other = [
    ...Object.entries(sizes).map(([name, size]) => `--${name} ${size}`),
    ...Object.entries(parts).map(([name, some]) => `--${name} ${some.join(`, --${name} `)}`),
  ];
  if (other.length > 0) return `measured with ${other.join(' ')}`;
  return rounds < REPORTED_ROUNDS_MIN
    ? `${rounds} rounds, ${REPORTED_ROUNDS_MIN} are needed`
    : undefined;
}

function machine() {
  const path = join(import.meta.dirname, '..', 'node_modules', 'xstate', 'package.json');
  const xstate = JSON.parse(readFileSync(path, 'utf8'));
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryGiB: rounded(totalmem() / 2 ** 30),
    system: `${process.platform} ${process.arch}`,
    node: process.versions.node,
    v8: process.versions.v8,
    xstate: xstate.version as string,
  };
}

function detailLines(key: string, detail: unknown): string[] {
  if (typeof detail !== 'object' || detail === null) return [`      ${key}: ${detail}`];
  if ('median' in detail && 'range' in detail) return [`      ${key}: ${spread(detail)}`];
  const inner = Object.entries(detail).map(([name, value]) => `        ${name}: ${spread(value)}`);
  return [`      ${key}:`, ...inner];
}

function spread(detail: unknown): string {
  const { median, range } = detail as { median?: number; range?: readonly number[] };
  if (median === undefined || range === undefined)
    return typeof detail === 'object' ? JSON.stringify(detail) : String(detail);
  return `${short(median)} (${range.map(short).join(' – ')})`;
}

function short(value: number): string {
  return Math.abs(value) >= 1_000
    ? Math.round(value).toLocaleString('en')
    : String(Number(value.toPrecision(3)));
}

function row(...cells: readonly string[]): string {
  const widths = [24, 10, 18, 8, 8, 12];
  return cells
    .map((cell, index) => cell.padEnd(widths[index] ?? 0))
    .join('  ')
    .trimEnd();
}
