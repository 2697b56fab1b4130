/**
 * Every limit of the product is drawn tiny, or stands in a list with the reason why it is not.
 *
 * A boundary that no run crosses is a boundary where nobody knows what happens. The sources are looked
 * through for constants that are limits by their name, and for literals where pages are asked for.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { JOBS_OPTIONS } from '../../programs/jobs/configuration/options.ts';
import { resolveConfiguration } from '../../programs/jobs/configuration.ts';
import { knob, knobs, turnKnobs } from '../../runtime/base/knob.ts';
import { DEFAULT_LIMITS } from '../../runtime/base/limits.ts';
import { play } from '../../simulator/jobs/run.ts';
import { drawPlan } from '../../simulator/jobs/swarm/draw-plan.ts';
import { TINY, TINY_OPTIONS } from '../../simulator/jobs/swarm/tiny.ts';
import { checkBounds, limitsIn, withinBounds } from '../../simulator/simulation/bounds.ts';
import { TINY_LMDB } from '../contracts/tiny-lmdb.ts';
import { UNDRAWN_CONSTANTS, UNDRAWN_LIMITS } from './bounds-undrawn.ts';

const ROOT = join(import.meta.dirname, '../..');
const FOLDERS = ['runtime', 'programs', 'machines', 'stores', 'transports'];
const NUMBER = /^(?:export )?const ([A-Z][A-Z0-9_]*)(?:: [^=]+)? = ([^;]*?\d[^;]*);/gm;
const LIMIT =
  /(MAX|AT_ONCE|KEPT|REMEMBERED|TOLD|WINDOW|PAGE|PER_|_MIN$|LENGTH|BYTES|LOOKED_AT|ROUNDS|WATCHERS|ENTRIES|ROWS|TURNS)/;

function sources(): readonly string[] {
  return FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => `${folder}/${file}`),
  ).sort();
}

/** `file NAME` of each constant that is a number, a limit by its name, and no knob. */
function constants(): readonly string[] {
  return sources().flatMap((file) =>
    [...readFileSync(join(ROOT, file), 'utf8').matchAll(NUMBER)]
      .filter(
        ([, name = '', value = '']) =>
          LIMIT.test(name) && !name.endsWith('_MS') && !/^(knob\(|\/|'|new )/.test(value),
      )
      .map(([, name]) => `${file} ${name}`),
  );
}

describe('limits', () => {
  test('that are constants of the sources are knobs, or not drawn for a reason', () => {
    const listed = UNDRAWN_CONSTANTS.flatMap(([, names]) => names);
    expect(listed.length).toBe(new Set(listed).size);
    expect([...constants()].sort()).toEqual([...listed].sort());
  });

  test('are not written where pages are asked for', () => {
    const literal = /\b(?:limit|max): (?!1\b)[\d_]+/;
    const found = sources().filter((file) => {
      const text = readFileSync(join(ROOT, file), 'utf8');
      return file.startsWith('programs/') && text.split('\n').some((line) => literal.test(line));
    });
    expect(found).toEqual([]);
  });

  test('of the configuration are drawn tiny', () => {
    const options = Object.keys(JOBS_OPTIONS).filter((name) => /Max$|Workflows$/.test(name));
    // Bounds of hostile peers, and one that would refuse nearly every job.
    const undrawn = ['fenceStepMax', 'jobTableBytesMax'];
    expect([...Object.keys(TINY_OPTIONS), ...undrawn].sort()).toEqual(options.sort());
    for (let seed = 0; seed < 50; seed++)
      resolveConfiguration(drawPlan(seed, { tiny: true }).config);
  });

  test('of runtimes are drawn tiny, or not for a reason', () => {
    const drawn = Object.keys(
      limitsIn(Object.fromEntries(Object.keys(TINY).map((one) => [one, 1]))),
    );
    expect([...drawn, ...Object.keys(UNDRAWN_LIMITS)].sort()).toEqual(
      Object.keys(DEFAULT_LIMITS).sort(),
    );
  });

  test('that are knobs are all drawn tiny, and smaller than they usually are', () => {
    const declared = sources().flatMap((file) =>
      [...readFileSync(join(ROOT, file), 'utf8').matchAll(/ = knob\('(\w+)'/g)].map(
        ([, name]) => `knob.${name}`,
      ),
    );
    const drawn = Object.keys(TINY).filter((name) => name.startsWith('knob.'));
    const lmdb = Object.keys(TINY_LMDB).map((name) => `knob.${name}`);
    expect([...drawn, ...lmdb].sort()).toEqual(declared.sort());
    for (const { name, usual } of knobs().filter(({ name }) => `knob.${name}` in TINY))
      expect(Math.max(...(TINY[`knob.${name}`] ?? []))).toBeLessThan(usual);
  });
});

describe('knobs', () => {
  const own = knob('testOnly', 100);

  test('have their usual value but while they are turned', () => {
    const turnBack = turnKnobs({ testOnly: 3 });
    expect(own.value).toBe(3);
    turnBack();
    expect(own.value).toBe(100);
  });

  test('refuse what is no knob or no number of things', () => {
    expect(() => turnKnobs({ nobody: 3 })).toThrow('There is no knob "nobody"');
    expect(() => turnKnobs({ testOnly: 0.5 })).toThrow('whole numbers');
    expect(() => knob('testOnly', 1)).toThrow('already');
    expect(own.value).toBe(100);
  });

  test('of a run are turned for it alone, and runs with others wait', async () => {
    const seen: string[] = [];
    const run = (name: string) => async () => {
      for (let turns = 0; turns < 3; turns++) {
        seen.push(`${name} ${own.value}`);
        await Promise.resolve();
      }
    };
    await Promise.all([
      withinBounds({ 'knob.testOnly': 1 }, run('a')),
      withinBounds({ 'knob.testOnly': 2 }, run('b')),
      withinBounds({ 'knob.testOnly': 1 }, run('c')),
    ]);
    expect(new Set(seen)).toEqual(new Set(['a 1', 'b 2', 'c 1']));
    expect(own.value).toBe(100);
  });

  test('that a plan turns and that there are not are refused', () => {
    expect(() => checkBounds({ 'knob.nobody': 1 })).toThrow(
      'There is no bound called "knob.nobody"',
    );
    expect(() => checkBounds({ 'limit.nobody': 1 })).toThrow('nobody');
    expect(() => checkBounds({ 'limit.mailboxMax': 0 })).toThrow('mailboxMax');
    expect(() => checkBounds({ mailboxMax: 1 })).toThrow('There is no bound called "mailboxMax"');
  });
});

test('a run with tiny bounds is the same each time, and differs from one without', async () => {
  const seed = 5;
  const tiny = drawPlan(seed, { tiny: true });
  const usual = drawPlan(seed, { tiny: false });
  expect(usual.bounds).toBeUndefined();
  const [one, other, without] = [await play(tiny), await play(tiny), await play(usual)];
  expect(other.traceHash).toBe(one.traceHash);
  expect(without.traceHash).not.toBe(one.traceHash);
});
