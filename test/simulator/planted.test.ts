import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Copies } from '../planted/copy.ts';
import { type Finding, hunt } from '../planted/hunt.ts';
import { edited, PLANS_FOLDER, type Plant } from '../planted/plant.ts';
import { PLANTS } from '../planted/plants.ts';
import { withTable } from '../planted/table.ts';

const PROJECT = join(import.meta.dirname, '../..');
const README = join(PROJECT, 'test/planted/README.md');

/**
 * Plans that no seeded bug stands behind: of faults of the simulator (alarms that were none, a disk that lost too much, an end
 * too soon), and of the product where putting the bug back would be another one.
 */
const OWN_FAULTS = [
  '100315-OV-2.json',
  '100352-TS-8.json',
  '122-MS-1.json',
  '1535-TO-5.json',
  '24-CL-2.json',
  '300053-TS-7.json',
  '300202-WP-5.json',
  '40052-MS-15.json',
  '500035-FE-4.json',
  '500236-EX-10.json',
  '500382-TS-7.json',
  '500548-BY-1.json',
  '500595-EX-7.json',
  '506192-MS-5.json',
  '5325-MS-1.json',
  '60011-EX-8.json',
  '6002-MS-2.json',
  '79-OUT-3.json',
  '9917-MS-6.json',
  'written-GA-12.json',
];

/** The sources that a plant changes, as it leaves them. */
function plantedSources({ edits }: Plant): ReadonlyMap<string, string> {
  const sources = new Map<string, string>();
  for (const edit of edits) {
    const source = sources.get(edit.file) ?? readFileSync(join(PROJECT, edit.file), 'utf8');
    sources.set(edit.file, edited(source, edit));
  }
  return sources;
}

describe('planted bugs', () => {
  test.each(PLANTS)('$id has its places in the sources, each of them once', (plant) => {
    for (const [file, source] of plantedSources(plant))
      expect(source).not.toBe(readFileSync(join(PROJECT, file), 'utf8'));
  });

  test('have ids of their own, and change nothing but the product', () => {
    const ids = PLANTS.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const files = PLANTS.flatMap(({ edits }) => edits.map(({ file }) => file));
    expect(
      files.filter(
        (file) => !/^(cli|http|machines|programs|runtime|stores|transports)\//.test(file),
      ),
    ).toEqual([]);
  });

  test('name the test files and the plans that find them, and each plan of the track record', () => {
    const suites = PLANTS.flatMap(({ suite }) => suite ?? []);
    expect(suites.filter((suite) => !existsSync(join(PROJECT, suite)))).toEqual([]);
    const plans = PLANTS.flatMap(({ plan }) => plan ?? []);
    expect([...plans, ...OWN_FAULTS].sort()).toEqual(
      readdirSync(join(PROJECT, PLANS_FOLDER)).sort(),
    );
  });

  test('are all in the table of the readme, as they are here', () => {
    const text = readFileSync(README, 'utf8');
    expect(withTable(text, PLANTS, [])).toBe(text);
  });
});

describe('an edit', () => {
  const edit = { file: 'a.ts', find: 'b', replace: 'x' };

  test('is refused where its place is not there', () => {
    expect(() => edited('acd', edit)).toThrow('a.ts has no place that reads "b".');
  });

  test('is refused where its place is not the only one', () => {
    expect(() => edited('abcb', edit)).toThrow('a.ts has more than one place that reads "b".');
  });

  test('is made to the letter', () => {
    expect(edited('abc', { ...edit, replace: "$&'" })).toBe("a$&'c");
  });
});

describe('the table', () => {
  const finding: Finding = {
    id: 'P1',
    found: true,
    firstSeed: 7,
    hits: 3,
    invariant: 'TO-1',
    traceLength: 100,
    played: 12,
    undecided: 0,
  };
  const plants: readonly Plant[] = [
    { id: 'P1', area: 'time', says: 'One.', edits: [] },
    { id: 'P2', area: 'time', says: 'Two.', edits: [] },
  ];

  test('keeps what was said of a plant that was not hunted', () => {
    const before = withTable('Text.\n', plants, [finding]);
    expect(before).toBe(
      [
        'Text.',
        '',
        '| Plant | What is wrong | Found by     |',
        '| ----- | ------------- | ------------ |',
        '| P1    | One.          | TO-1, seed 7 |',
        '| P2    | Two.          | not yet      |',
        '',
      ].join('\n'),
    );
    const after = withTable(before, plants, [{ ...finding, id: 'P2', firstSeed: 9 }]);
    expect(after).toBe(before.replace('not yet     ', 'TO-1, seed 9'));
  });

  test('says which plan was played', () => {
    const [one, other] = plants.map((plant) => ({ ...plant, plan: '7-TO-1.json' })) as [
      Plant,
      Plant,
    ];
    const written = { ...other, plan: 'written-TO-1.json' };
    const text = withTable('', [one, written], [finding, { ...finding, id: 'P2', firstSeed: 1 }]);
    expect(text).toMatch(/^\| P1 +\| One\. +\| TO-1, the plan of seed 7 +\|$/m);
    expect(text).toMatch(/^\| P2 +\| Two\. +\| TO-1, a plan written by hand +\|$/m);
  });
});

describe('a hunt', () => {
  let copies: Copies;
  beforeAll(() => {
    copies = new Copies(PROJECT);
  });
  afterAll(() => copies.remove());

  const hunted = (plants: readonly Plant[]) =>
    hunt(copies, {
      plants,
      from: 6,
      seeds: 3,
      hitsMax: 1,
      processes: 2,
      limitMs: 60_000,
      onFound: () => {},
    });

  const harmless: Plant = {
    id: 'P0',
    area: 'time',
    says: 'Nothing is wrong.',
    edits: [
      {
        file: 'machines/jobs/job/setup.ts',
        find: 'overallDue(context) + 1 - event.at',
        replace: '1 + overallDue(context) - event.at',
      },
    ],
  };

  test('finds bugs within a few seeds, and nothing where nothing is planted', async () => {
    const wanted = PLANTS.filter(({ id }) => ['P22', 'P43'].includes(id));
    const findings = await hunted([...wanted, harmless]);
    expect(findings.map(({ id, found }) => ({ id, found }))).toEqual([
      { id: 'P22', found: true },
      { id: 'P43', found: true },
      { id: 'P0', found: false },
    ]);
    expect(findings[2]).toMatchObject({ played: 3, hits: 0, invariant: null });
  });

  test('plays the plan that a plant names, and nothing else', async () => {
    const plan = 'written-GA-8.json';
    const wanted = PLANTS.filter((plant) => plant.plan === plan);
    const findings = await hunted([...wanted, { ...harmless, plan }]);
    const played = { played: 1, undecided: 0 };
    expect(findings).toMatchObject([
      { ...played, found: true, firstSeed: 1, hits: 1, invariant: 'GA-8' },
      { ...played, found: false, firstSeed: null, hits: 0, invariant: null },
    ]);
  });

  test('leaves the sources as they are, and no folder behind', () => {
    const plant = PLANTS[0] as Plant;
    const [file = ''] = plantedSources(plant).keys();
    const folder = copies.with(plant);
    expect(readFileSync(join(folder, file), 'utf8')).toBe(plantedSources(plant).get(file));
    expect(readFileSync(join(PROJECT, file), 'utf8')).not.toBe(plantedSources(plant).get(file));
    copies.remove();
    expect(existsSync(folder)).toBe(false);
    // All sources are copied, on a machine that may have other things to do.
  });
});
