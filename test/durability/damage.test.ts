/**
 * Damaged copies of a data file: refused, or every record is what was written or reported.
 *
 * Each copy is opened in a process of its own kind, because LMDB trusts its pages: a native crash
 * counts as a refusal, a wrong record never does. ESCAPEMENT_DAMAGE_CASES asks for more of them,
 * ESCAPEMENT_DAMAGE_SEED for others.
 */

import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { SeededRandom } from '../../simulator/world/random.ts';
import { lmdbStore } from '../../stores/lmdb.ts';
import { type Contents, contentsOf, differenceFrom } from './contents.ts';
import { type Damage, drawDamage } from './damage.ts';
import { type Outcome, openAll } from './damage-cases.ts';
import { fillDirectory, PLACE } from './filled-directory.ts';
import { newFolder } from './folders.ts';

const CASES = Number(process.env['ESCAPEMENT_DAMAGE_CASES'] ?? 240);
const SEED = Number(process.env['ESCAPEMENT_DAMAGE_SEED'] ?? 1);
const ACTORS = 200;

let folder: string;
let data: string;
let contents: Contents;
let older: Buffer;

beforeAll(async () => {
  folder = newFolder('damage');
  data = join(folder, 'data');
  await fillDirectory(data, ACTORS, () => {
    older = readFileSync(join(data, 'data.mdb'));
  });
  const store = lmdbStore(data);
  await store.open(PLACE);
  contents = contentsOf(store);
  await store.close();
});

test(`${CASES} damaged copies: refused, or every record is right or reported`, {
  timeout: 60_000 + CASES * 2_000,
}, async () => {
  const work = join(folder, 'work');
  mkdirSync(work);
  copyFileSync(join(data, 'data.mdb'), join(work, 'data.mdb'));
  const file = readFileSync(join(data, 'data.mdb'));
  const random = new SeededRandom(SEED, 'damage');
  const cases = Array.from({ length: CASES }, () => drawDamage(file, older, random));
  const outcomes = await openAll(work, contents, cases);
  expect(outcomes).toHaveLength(CASES);
  expect(outcomes.flatMap((outcome) => faultOf(outcome, cases))).toEqual([]);
  // LMDB may go round and round in a damaged tree: nothing is served then, and nothing is lost.
  expect(outcomes.filter(hasHung).length).toBeLessThan(CASES / 50);
  // All ways to end were seen, or nothing was tried.
  const ways = new Set(outcomes.map(wayOf));
  expect([...ways].sort()).toEqual(expect.arrayContaining(['opened', 'quarantined', 'refused']));
});

describe('the comparison', () => {
  test('finds a record that is another one, or missing, or one that nobody wrote', async () => {
    const store = lmdbStore(data);
    await store.open(PLACE);
    expect(Object.values(differenceFrom(contents, store)).flat()).toEqual([]);
    const [first = '', second = '', ...others] = Object.keys(contents.actors);
    const actors = { ...contents.actors };
    actors[first] = [`${actors[first]?.[0]} `, actors[first]?.[1] ?? ''];
    actors['order/nobody@shop'] = actors[second] ?? ['', ''];
    delete actors[second];
    const { records } = differenceFrom({ ...contents, actors }, store);
    await store.close();
    expect(others.length).toBeGreaterThan(100);
    expect(records).toEqual([
      expect.stringContaining(first),
      expect.stringContaining('order/nobody@shop: load gives nothing'),
      expect.stringContaining(`${second}: nobody wrote it`),
    ]);
  });
});

function wayOf(outcome: Outcome): 'crashed' | 'refused' | 'quarantined' | 'opened' {
  if ('killedBy' in outcome) return 'crashed';
  if (outcome.refused !== undefined) return 'refused';
  return outcome.damaged > 0 ? 'quarantined' : 'opened';
}

/** A page that is another one may look like a file of somebody else, or make LMDB say what says nothing of damage. */
const REFUSALS: ReadonlySet<string> = new Set(['STORE_DAMAGED', 'STORE_UNWRITABLE']);

const hasHung = (outcome: Outcome): boolean => 'killedBy' in outcome && outcome.killedBy === 'hung';

/** What is wrong about an outcome, by the name of its case. */
function faultOf(outcome: Outcome, cases: readonly Damage[]): string[] {
  const fault = (what: string) => [`${cases[outcome.index]?.name}: ${what}`];
  if ('killedBy' in outcome) return [];
  const { refused, records, problems } = outcome;
  if (refused !== undefined) return REFUSALS.has(refused) ? [] : fault(refused);
  if (records.length > 0) return fault(`${records.length} records, such as ${records[0]}`);
  // What is not a record may be missing from an open store; anybody who verifies it hears of that.
  const others = [...outcome.queries, ...outcome.history, ...outcome.undelivered];
  return others.length > 0 && problems === 0 ? fault(`untold: ${others[0]}`) : [];
}
