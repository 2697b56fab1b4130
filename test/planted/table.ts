/**
 * The table of plants in README.md: what each is, and what has found it.
 *
 * Guarantees: it says only what a hunt has seen. A plant that was not hunted keeps what was said of it
 * before; one that was never found says so.
 */

import type { Finding } from './hunt.ts';
import type { Plant } from './plant.ts';

const HEADER = ['Plant', 'What is wrong', 'Found by'] as const;
const NEVER = 'not yet';

/** The text with its table made again, which is the last thing in it. */
export function withTable(
  text: string,
  plants: readonly Plant[],
  findings: readonly Finding[],
): string {
  const lines = text.split('\n');
  const start = lines.findIndex((line) => line.startsWith('| Plant'));
  const before = lines.slice(0, start < 0 ? lines.length : start);
  const rows = plants.map((plant) => {
    const { id, says } = plant;
    const finding = findings.find((one) => one.id === id);
    const known = lines.find((line) => line.startsWith(`| ${id} `));
    const finder = finding === undefined ? finderIn(known) : finderOf(plant, finding);
    return [id, says, finder];
  });
  return `${[...before, ...laidOut([HEADER, ...rows])].join('\n')}\n`;
}

/** Lines of a table, the first row its header, with columns of one width each, as the formatter lays them out. */
function laidOut(rows: ReadonlyArray<readonly string[]>): readonly string[] {
  const [header = []] = rows;
  const widths = header.map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)));
  const rule = widths.map((width) => '-'.repeat(width));
  const [first = [], ...others] = lines;
  return [first, rule, ...others].map((cells) => `| ${cells.join(' | ')} |`);
}

/** What has found it, in a few words. */
export function finderOf({ plan }: Plant, { found, invariant, firstSeed }: Finding): string {
  if (!found) return NEVER;
  if (firstSeed === null) return `\`${invariant}\``;
  if (plan === undefined) return `${invariant}, seed ${firstSeed}`;
  const isOfSeed = plan.startsWith(`${firstSeed}-`);
  return `${invariant}, ${isOfSeed ? `the plan of seed ${firstSeed}` : 'a plan written by hand'}`;
}

function finderIn(row: string | undefined): string {
  return (
    row
      ?.split(' | ')
      .at(-1)
      ?.replace(/\s*\|$/, '')
      .trim() ?? NEVER
  );
}
