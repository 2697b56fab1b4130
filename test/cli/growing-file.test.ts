/** Files that grow, and a log whose beginning is dropped meanwhile, as their reader sees them. */

import { appendFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { GrowingFile } from '../../cli/render/growing-file.ts';
import { LogTail } from '../../programs/agents/workers/log-tail.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'escapement-growing-'));
  path = join(folder, 'log');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const more = (file: GrowingFile): string => [...file.more()].join('');

test('a file that is not there yet is empty, and a character comes whole', () => {
  const file = new GrowingFile(path);
  expect(more(file)).toBe('');
  const euro = Buffer.from('€');
  appendFileSync(path, euro.subarray(0, 1));
  expect(more(file)).toBe('');
  appendFileSync(path, euro.subarray(1));
  expect(more(file)).toBe('€');
});

test('a log is read once, however often its beginning is dropped', () => {
  const log = new LogTail(path, (error) => expect.fail(error.message));
  const file = new GrowingFile(path);
  let [written, read] = ['', ''];
  for (let line = 0; line < 20_000; line += 1) {
    const text = `${line} of a log that is longer than what is kept of it\n`;
    log.write(text);
    written += text;
    if (line % 1_000 === 0) read += more(file);
  }
  log.trim();
  read += more(file);
  expect(written.length).toBeGreaterThan(900_000);
  expect(read.length).toBe(written.length);
  expect(read).toBe(written);
});

test('another file in its place is read from its beginning, after the rest of the one before', () => {
  const file = new GrowingFile(path);
  writeFileSync(path, 'begun');
  expect(more(file)).toBe('begun');
  appendFileSync(path, ' and ended.');
  writeFileSync(`${path}.new`, 'Another');
  renameSync(`${path}.new`, path);
  expect(more(file)).toBe(' and ended.Another');
});

test('a file that was cut is read from its new beginning', () => {
  const file = new GrowingFile(path);
  writeFileSync(path, 'begun');
  expect(more(file)).toBe('begun');
  writeFileSync(path, 'new');
  expect(more(file)).toBe('new');
});
