/** docs/telemetry.md and the numbers say the same, in both directions. */

import { expect, test } from 'vitest';
import { createRuntime, type InspectionRecord } from '../../index.ts';
import { channelOf } from '../../telemetry/diagnostics.ts';
import { METRICS } from '../../telemetry/index.ts';
import { readProjectFile } from '../project-files.ts';

const page = readProjectFile('docs/telemetry.md');

/** The cells of every table row whose first cell begins like this, without the backquotes. */
function rowsOf(start: string): string[][] {
  const rows = page.split('\n').filter((line) => line.startsWith(`| \`${start}`));
  return rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll('`', '')),
  );
}

/** The tables under "Counters", "Gauges" and "Histograms", as `type name`. */
function documentedTypes(): string[] {
  return (['counter', 'gauge', 'histogram'] as const).flatMap((type) => {
    const title = `### ${type[0]?.toUpperCase()}${type.slice(1)}s`;
    const section = page.split(`\n${title}\n`)[1]?.split('\n#')[0] ?? '';
    return Array.from(
      section.matchAll(/^\| `(escapement_\w+)`/gm),
      ([, name]) => `${type} ${name}`,
    );
  });
}

test('the documents list every metric with its type, and no other', () => {
  const actual = METRICS.map(({ type, name }) => `${type} ${name}`);
  expect(documentedTypes().sort()).toEqual(actual.sort());
});

test('every number of a snapshot is a metric, under the field that the documents name', async () => {
  const runtime = await createRuntime();
  const { node, place, ...numbers } = runtime.metrics();
  await runtime.stop();
  expect([node, place]).toEqual(['node-1', 'node-1']);
  // The alerts name metrics too, in a table of two columns.
  const rows = rowsOf('escapement_').filter((row) => row.length === 4);
  const fields = rows.map(([name, , field]) => [name, field] as const);
  expect(fields.map(([, field]) => field).sort()).toEqual(Object.keys(numbers).sort());

  // Each metric reads the field that stands beside its name: a snapshot with one odd value shows it.
  for (const [name, field = ''] of fields) {
    const metric = METRICS.find((each) => each.name === name);
    if (metric?.type === 'histogram') expect(metric.field).toBe(field);
    else {
      const odd = {
        ...runtime.metrics(),
        [field]: metric?.parts === undefined ? 97 : { ABORTED: 97 },
      };
      expect(metric?.read(odd), name).toBe(field === 'isHosting' ? 1 : 97);
      if (metric?.parts !== undefined) expect(metric.parts.read(odd)).toEqual({ ABORTED: 97 });
    }
  }
});

test('units are at the end of the names', () => {
  for (const { name, type, unit } of METRICS) {
    expect(name.endsWith('_total'), name).toBe(type === 'counter');
    expect(name.endsWith('_milliseconds'), name).toBe(unit === 'ms');
  }
});

test('the documents list every channel, and no other', () => {
  const types: Record<InspectionRecord['type'], true> = {
    actor: true,
    commit: true,
    commitRefused: true,
    lease: true,
    messageFenced: true,
    messageSent: true,
    peer: true,
    question: true,
    timers: true,
    turn: true,
    undelivered: true,
  };
  const names = Object.keys(types).map((type) => channelOf(type as InspectionRecord['type']).name);
  const documented = rowsOf('escapement:').map(([name]) => name);
  expect(documented.sort()).toEqual([...new Set(names)].sort());
});
