/**
 * Every scenario file of the project holds: what it expects comes, and every invariant holds too.
 *
 * README.md beside this file says which scenario of the specification is where.
 */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { play } from '../../simulator/jobs/run.ts';
import { resultOf, type ScenarioResult } from '../../simulator/jobs/scenario/result.ts';
import { parseScenario } from '../../simulator/jobs/scenario/scenario.ts';
import { ROOT } from '../project-files.ts';

const OWN = join(ROOT, 'test', 'conformance');
/** Where a checkout has one beside it: the same scenarios as their authors have them. */
const SHARED = join(ROOT, '..', 'shared', 'conformance');

const scenariosIn = (folder: string): readonly string[] =>
  existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.yaml')) : [];

function textOf(folder: string, file: string): string | undefined {
  const path = join(folder, file);
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

async function resultOfFile(folder: string, file: string): Promise<ScenarioResult> {
  const scenario = parseScenario(readFileSync(join(folder, file), 'utf8'), file);
  return resultOf(scenario, await play(scenario.plan));
}

async function expectToHold(folder: string, file: string): Promise<void> {
  const { failures, violations } = await resultOfFile(folder, file);
  expect({ failures, violations }).toEqual({ failures: [], violations: [] });
}

describe('a scenario of the project', () => {
  test.each(scenariosIn(OWN))('%s holds', (file) => expectToHold(OWN, file));

  test.each(scenariosIn(OWN))('%s expects something', (file) => {
    const { expect: expected } = parseScenario(readFileSync(join(OWN, file), 'utf8'), file);
    expect(expected.size).toBeGreaterThan(0);
  });

  test('comes to the same result again, to the last turn', async () => {
    const [file] = scenariosIn(OWN).filter((name) => name.startsWith('15-'));
    const one = await resultOfFile(OWN, file as string);
    const other = await resultOfFile(OWN, file as string);
    expect(other).toEqual(one);
  });
});

/** Those that are the same here have been played already. */
const others = scenariosIn(SHARED).filter((name) => textOf(SHARED, name) !== textOf(OWN, name));

describe.runIf(others.length > 0)('a scenario from elsewhere', () => {
  test.each(others)('%s holds', (file) => expectToHold(SHARED, file));
});

describe('the list of scenarios', () => {
  const readme = readFileSync(join(OWN, 'README.md'), 'utf8');

  test('names every file, and no other', () => {
    const named = new Set(
      Array.from(readme.matchAll(/`([\w.-]+)\.yaml`/g), ([, name]) => `${name}.yaml`),
    );
    expect([...named].sort()).toEqual([...scenariosIn(OWN)].sort());
  });

  test('has every scenario of the specification', () => {
    const rows = Array.from(readme.matchAll(/^\| (S\d+|10\.7\.\d+) +\|/gm), ([, id]) => id);
    const acceptance = Array.from({ length: 10 }, (_, index) => `10.7.${index + 1}`);
    const further = Array.from({ length: 53 }, (_, index) => `S${index + 1}`);
    expect(rows).toEqual([...acceptance, ...further]);
  });

  test('names only tests that there are', () => {
    const paths = Array.from(
      readme.matchAll(/`(test\/[\w./-]+\.test\.ts)`/g),
      ([, path]) => path ?? '',
    );
    expect(paths.length).toBeGreaterThan(0);
    expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });
});
