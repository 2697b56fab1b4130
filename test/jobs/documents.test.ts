/**
 * Keeps the documents of the jobs system true: its lists of messages, log lines and metrics are
 * those of the code, in both directions, and the logs that they show are what the programs write.
 *
 * A block that opens with "```text log NAME" shows lines of the run NAME below: the moment in
 * seconds, the node, the line, and words that are to be found in its fields. Lines of the run may
 * be left out, their order may not be changed.
 */

import { describe, expect, test } from 'vitest';
import { NOTES, type NoteName } from '../../machines/jobs/notes.ts';
import { Counters } from '../../programs/jobs/counters.ts';
import { notePerformer } from '../../programs/jobs/notes.ts';
import { PERMISSIONS } from '../../programs/jobs/permissions.ts';
import type { Performer } from '../../runtime/kind.ts';
import { SILENT_LOGGER } from '../../runtime/options.ts';
import { listProjectFiles, readProjectFile } from '../project-files.ts';
import type { LogLine } from './cluster/recorder.ts';
import { type Cluster, scripted, startCluster } from './cluster.ts';

const OPERATIONS = 'docs/jobs-operations.md';

describe('the guide for operators', () => {
  test('lists every line that machines can note, with its level, and no other', () => {
    const rows = rowsOf(
      readProjectFile(OPERATIONS),
      /^\| `([a-zA-Z.]+)` +\| (debug|info|warn) +\|/gm,
    );
    const documented = rows.map(([, name, level]) => `${name}: ${level}`);
    expect(documented.sort()).toEqual(NOTES.map((name) => `${name}: ${levelOf(name)}`).sort());
  });

  test('lists every metric, and no other', () => {
    const rows = rowsOf(readProjectFile(OPERATIONS), /^\| `([a-z_]+)` +\| (?:manager|gate)/gm);
    const named = sourcesIn('programs/jobs/').flatMap((source) =>
      rowsOf(source, /'([a-z]+(?:_[a-z]+)+_(?:total|count|length|seconds))'/g),
    );
    const actual = new Set(named.map(([, name]) => name));
    expect(rows.map(([, name]) => name).sort()).toEqual([...actual].sort());
  });

  test('shows the table of permissions as it is', () => {
    const [, section = ''] = readProjectFile(OPERATIONS).split('\n## Who may do what\n');
    const [head = [], ...rows] = (section.split('\n## ')[0] ?? '')
      .split('\n')
      .filter((line) => line.startsWith('| ') && !line.startsWith('| --'))
      .map((line) => line.split('|').slice(1, -1))
      .map((cells) => cells.map((cell) => cell.trim()));
    const documented = rows.map(([action = '', ...reaches]) => [
      action.replaceAll('`', ''),
      Object.fromEntries(
        head.slice(1).map((role, at) => [role, reaches[at]?.replace('–', 'never')]),
      ),
    ]);
    expect(Object.fromEntries(documented)).toEqual(PERMISSIONS);
  });
});

test('the map of the machines names every message', () => {
  const map = readProjectFile('machines/jobs/README.md');
  const types = sourcesIn('machines/jobs/messages/').flatMap((source) =>
    rowsOf(source, /\btype: (?:z\.literal\()?'([a-zA-Z]+\.[a-zA-Z]+)'/g),
  );
  expect(types.length).toBeGreaterThan(40);
  // What programs tell their own actors is no message between actors.
  const own = new Set(['status.found', 'rules.given']);
  const missing = types.filter(([, type = '']) => !own.has(type) && !map.includes(`\`${type}\``));
  expect(missing.map(([, type]) => type)).toEqual([]);
});

const DAY = 86_400_000;
const job = (timeoutMs: number, script: Parameters<typeof scripted>[1]) => ({
  jobId: 'j1',
  timeoutMs,
  workflows: [scripted('w1', script)],
});
const one = { A: { workers: 1 } };
const two = { A: { workers: 1 }, B: { workers: 1 } };

/** The runs whose logs are shown, by name: begun, and played for so long. */
const RUNS: Readonly<Record<string, () => Promise<readonly [Cluster, untilMs: number]>>> = {
  async overall() {
    const cluster = await startCluster({ datacenters: one });
    await cluster.begin('A', job(60_000, { runs: 'never' }));
    return [cluster, 70_000];
  },
  async stuck() {
    const cluster = await startCluster({ datacenters: one });
    await cluster.begin('A', job(DAY, { runs: 'never', stopsProgressAt: 30_000 }));
    return [cluster, 160_000];
  },
  async gate() {
    const cluster = await startCluster({ gates: 1, datacenters: two });
    const script = { runs: 'never', in: { A: { stopsProgressAt: 30_000 } } } as const;
    await cluster.begin('gate-1', job(DAY, script));
    return [cluster, 160_000];
  },
  async fallback() {
    const cluster = await startCluster({ gates: 1, datacenters: one });
    await cluster.begin('gate-1', job(200_000, { runs: 'never' }));
    cluster.at(60_000, () => cluster.crash('gate-1'));
    cluster.at(600_000, () => cluster.restart('gate-1'));
    return [cluster, 610_000];
  },
  async 'cut-off'() {
    const cluster = await startCluster({ gates: 1, datacenters: two });
    await cluster.begin('gate-1', job(60_000, { runs: 'never' }));
    cluster.at(10_000, () => cluster.network.cut('B.manager-1', 'gate-1'));
    return [cluster, 130_000];
  },
  async 'worker-lost'() {
    const cluster = await startCluster({ datacenters: { A: { workers: 2 } } });
    await cluster.begin('A', job(120_000, { runs: 'never' }));
    cluster.at(20_000, () => cluster.extend('A.worker-1', { progress: 0.5 }));
    cluster.at(20_200, () => cluster.crash('A.worker-1'));
    return [cluster, 120_000];
  },
  async takeover() {
    const cluster = await startCluster({ datacenters: { A: { managers: 2, workers: 1 } } });
    await cluster.begin('A', job(120_000, { runs: 60_000 }));
    cluster.at(20_000, () => cluster.crash('A.manager-1'));
    return [cluster, 70_000];
  },
};

describe('the logs that are shown', () => {
  const blocks = rowsOf(readProjectFile(OPERATIONS), /^```text log ([a-z-]+)\n([\s\S]*?)^```$/gm);

  test('are those of the runs here', () => {
    expect(blocks.map(([, name]) => name).sort()).toEqual(Object.keys(RUNS).sort());
  });

  for (const [, name = '', text = ''] of blocks)
    test(`of ${name} are written`, async () => {
      const [cluster, untilMs] = (await RUNS[name]?.()) ?? expect.fail(`There is no run ${name}.`);
      await cluster.runUntil(untilMs);
      const written = cluster.recorder.lines();
      await cluster.stop();
      let from = 0;
      for (const line of text.trimEnd().split('\n')) {
        const at = written.findIndex((entry, index) => index >= from && isShown(line, entry));
        expect(at, `${line}, after ${from} lines`).toBeGreaterThanOrEqual(from);
        from = at + 1;
      }
    });
});

/** Whether a line of a document shows this line of a log. */
function isShown(shown: string, { atMs, node, message, fields }: LogLine): boolean {
  const [seconds, who, event, ...words] = shown.trim().split(/\s+/);
  if (seconds !== (atMs / 1_000).toFixed(3) || who !== node || event !== message) return false;
  const told = new Set(Object.entries(fields).flat().map(textOf));
  return words.every((word) => told.has(word));
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

function levelOf(event: NoteName): string {
  let level = '';
  const record = (name: string) => () => {
    level = name;
  };
  const logger = { debug: record('debug'), info: record('info'), warn: record('warn') };
  const perform = notePerformer({ ...SILENT_LOGGER, ...logger }, new Counters(), undefined);
  perform({ params: { event, at: 0 } } as unknown as Parameters<Performer>[0]);
  return level;
}

function rowsOf(text: string, pattern: RegExp): RegExpMatchArray[] {
  return [...text.matchAll(pattern)];
}

function sourcesIn(folder: string): readonly string[] {
  const files = listProjectFiles().filter((path) => path.startsWith(folder) && /\.ts$/.test(path));
  return files.map(readProjectFile);
}
