/**
 * Keeps the documents of the jobs system true: its lists of messages, log lines and metrics are
 * those of the code, in both directions, and the logs that they show are what the programs write.
 *
 * A block that opens with "```text log NAME" shows the run NAME of logged-runs.ts, every line at
 * `info` and above from its beginning on: the moment in seconds, the node, the line, and of its
 * fields names with their values, or values alone.
 */

import { describe, expect, test } from 'vitest';
import { LOG_EVENTS, type LogEventName } from '../../machines/jobs/log-events.ts';
import { Counters } from '../../programs/jobs/counters.ts';
import { PERMISSIONS } from '../../programs/jobs/jobs-service/permissions.ts';
import { logPerformer } from '../../programs/jobs/log-events.ts';
import type { Performer } from '../../runtime/actor/kind.ts';
import { SILENT_LOGGER } from '../../runtime/base/limits.ts';
import { listProjectFiles, readProjectFile } from '../project-files.ts';
import type { LogLine } from './cluster/recorder.ts';
import { LOGGED_RUNS } from './logged-runs.ts';

const OPERATIONS = 'docs/jobs-operations.md';

describe('the guide for operators', () => {
  test('lists every line that machines can note, with its level, and no other', () => {
    const rows = rowsOf(
      readProjectFile(OPERATIONS),
      /^\| `([a-zA-Z.]+)` +\| (debug|info|warn) +\|/gm,
    );
    const documented = rows.map(([, name, level]) => `${name}: ${level}`);
    expect(documented.sort()).toEqual(LOG_EVENTS.map((name) => `${name}: ${levelOf(name)}`).sort());
  });

  test('lists every metric, and no other', () => {
    const rows = rowsOf(
      readProjectFile(OPERATIONS),
      /^\| `([a-z_]+)` +\| (?:manager|gate|worker)/gm,
    );
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

describe('the logs that are shown', () => {
  const blocks = rowsOf(readProjectFile(OPERATIONS), /^```text log ([a-z-]+)\n([\s\S]*?)^```$/gm);

  test('are those of the runs that there are', () => {
    expect(blocks.map(([, name]) => name).sort()).toEqual(Object.keys(LOGGED_RUNS).sort());
  });

  for (const [, name = '', text = ''] of blocks)
    test(`of ${name} are what is written, and all of it`, async () => {
      const written = (await linesOf(name)).filter(isToBeShown);
      const shown = text.trimEnd().split('\n');
      // What does not fit stands there as it was written.
      const fitting = written.map((line, at) =>
        isShown(shown[at] ?? '', line) ? shown[at] : asText(line),
      );
      expect(shown).toEqual(fitting);
    });

  test('may neither lack a line, nor change a value, nor put one under another name', async () => {
    const [, , ended] = (await linesOf('overall')).filter(isToBeShown);
    const line = ended ?? expect.fail('There is no third line.');
    expect(isShown('60.001 A.manager-1 job.ended timedOut reason overall', line)).toBe(true);
    expect(isShown('60.002 A.manager-1 job.ended timedOut', line)).toBe(false);
    expect(isShown('60.001 A.manager-1 job.ended completed', line)).toBe(false);
    expect(isShown('60.001 A.manager-1 job.ended gateReason overall', line)).toBe(false);
    expect(isShown('', line)).toBe(false);
  });
});

async function linesOf(name: string): Promise<readonly LogLine[]> {
  const [cluster, untilMs] = (await LOGGED_RUNS[name]?.()) ?? expect.fail(`There is no ${name}.`);
  await cluster.runUntil(untilMs);
  const lines = cluster.recorder.lines();
  await cluster.stop();
  return lines;
}

const isToBeShown = ({ atMs, level }: LogLine): boolean => atMs >= 0 && level !== 'debug';

/** Whether a line of a document shows this line of a log. */
function isShown(shown: string, { atMs, node, message, fields }: LogLine): boolean {
  const text = shown.trim().split(/\s+/).join(' ');
  const begin = `${(atMs / 1_000).toFixed(3)} ${node} ${message}`;
  if (text !== begin && !text.startsWith(`${begin} `)) return false;
  const values = new Set(Object.values(fields).map(textOf));
  const words = text
    .slice(begin.length + 1)
    .split(' ')
    .filter((word) => word !== '');
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    const isTrue = Object.hasOwn(fields, word)
      ? textOf(fields[word]) === words[++at]
      : values.has(word);
    if (!isTrue) return false;
  }
  return true;
}

const asText = ({ atMs, node, message, fields }: LogLine): string =>
  `${(atMs / 1_000).toFixed(3)} ${node} ${message} ${JSON.stringify(fields)}`;

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

function levelOf(event: LogEventName): string {
  let level = '';
  const record = (name: string) => () => {
    level = name;
  };
  const logger = { debug: record('debug'), info: record('info'), warn: record('warn') };
  const perform = logPerformer({ ...SILENT_LOGGER, ...logger }, new Counters(), undefined);
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
