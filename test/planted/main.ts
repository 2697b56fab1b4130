/**
 * `npm run planted`: puts each planted bug into a copy of the sources, and plays seeds until it is found,
 * or the plan that found it once.
 *
 *   --only P1,P2    these plants; default all
 *   --seeds N       seeds for each plant, default 5,000
 *   --from N        the first seed, default 1
 *   --hits N        hits after which a plant is left, default 3
 *   --quick         one hit, and 200 seeds unless --seeds says otherwise
 *   --limit S       seconds that one run may take before it is left out, default 300
 *   --processes N   default: one for each core
 *   --json          prints the findings as JSON and nothing else
 *   --write         puts what was found into the table of README.md
 *
 * Progress goes to standard error. Exit 0 when every plant was found, 1 when one was not.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Copies } from './copy.ts';
import { type Finding, hunt } from './hunt.ts';
import type { Plant } from './plant.ts';
import { PLANTS } from './plants.ts';
import { finderOf, withTable } from './table.ts';

const SEEDS = 5_000;
const SEEDS_QUICK = 200;
const HITS = 3;
const LIMIT_S = 300;

const { values } = parseArgs({
  options: {
    help: { type: 'boolean', default: false },
    only: { type: 'string' },
    seeds: { type: 'string' },
    from: { type: 'string' },
    hits: { type: 'string' },
    quick: { type: 'boolean', default: false },
    limit: { type: 'string' },
    processes: { type: 'string' },
    json: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});

if (values.help) {
  const [about = ''] = readFileSync(import.meta.filename, 'utf8').split(' */');
  process.stdout.write(`${about.replaceAll(/^(?:\/\*\*| \*) ?/gm, '').trim()}\n`);
  process.exit(0);
}

const wanted = values.only?.split(',');
const unknown = wanted?.filter((id) => !PLANTS.some((plant) => plant.id === id)) ?? [];
if (unknown.length > 0) throw new Error(`There is no plant ${unknown.join(', ')}.`);

const copies = new Copies(join(import.meta.dirname, '../..'));
process.on('exit', () => copies.remove());
process.on('SIGINT', () => process.exit(130));
process.on('SIGTERM', () => process.exit(143));

const perPlant = await hunt(copies, {
  plants: PLANTS.filter(({ id }) => wanted?.includes(id) ?? true),
  from: whole('from', 1),
  seeds: whole('seeds', values.quick ? SEEDS_QUICK : SEEDS),
  hitsMax: whole('hits', values.quick ? 1 : HITS),
  limitMs: whole('limit', LIMIT_S) * 1_000,
  processes: whole('processes', availableParallelism()),
  onFound: (finding) => process.stderr.write(`${lineOf(finding)}\n`),
});
if (values.write) {
  const readme = join(import.meta.dirname, 'README.md');
  writeFileSync(readme, withTable(readFileSync(readme, 'utf8'), PLANTS, perPlant));
}
const found = perPlant.filter((finding) => finding.found).length;
const report = { planted: perPlant.length, found, perPlant };
process.stdout.write(
  values.json ? `${JSON.stringify(report, null, 2)}\n` : `${found} of ${perPlant.length} found\n`,
);
process.exit(found === perPlant.length ? 0 : 1);

function whole(name: 'from' | 'seeds' | 'hits' | 'limit' | 'processes', byDefault: number): number {
  const given = values[name];
  if (given === undefined) return byDefault;
  const number = Number(given);
  if (!Number.isSafeInteger(number) || number < 1)
    throw new Error(`--${name} is a whole number of 1 or more, got "${given}".`);
  return number;
}

function lineOf(finding: Finding): string {
  const { id, found: isFound, hits, played, undecided } = finding;
  const left = undecided === 0 ? '' : `, ${undecided} undecided`;
  if (!isFound) return `${id} not found in ${played} runs${left}`;
  const plant = PLANTS.find((one) => one.id === id) as Plant;
  const often = played > 1 ? `, ${hits} hits in ${played} seeds` : '';
  return `${id} found by ${finderOf(plant, finding)}${often}${left}`;
}
