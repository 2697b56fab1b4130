/** Files in which attempts find their items: each has its own item, whatever a command does with its file. */

import { mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ItemPlaces } from '../../../programs/mapreduce/item-places.ts';

const folder = mkdtempSync(join(tmpdir(), 'escapement-places-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const places = new ItemPlaces();
const file = (name = 'one'): string => join(folder, name);

function written(text: string, name = 'one', place = 0): string {
  places.write(place, file(name), text);
  return readFileSync(file(name), 'utf8');
}

beforeAll(() => {
  expect(written('first')).toBe('first');
});

test('a shorter item and a longer one stand alone in the file', () => {
  expect(written('a long item of many words')).toBe('a long item of many words');
  expect(written('été')).toBe('été');
  expect(written('')).toBe('');
  expect(statSync(file()).mode & 0o777).toBe(0o600);
});

test('a file that a command has taken away, replaced or written is as it should be for the next', () => {
  rmSync(file());
  expect(written('again')).toBe('again');
  writeFileSync(file('other'), 'other');
  renameSync(file('other'), file());
  expect(written('mine')).toBe('mine');
  writeFileSync(file(), 'a command has written much more than that');
  expect(written('next')).toBe('next');
});

test('another run has files of its own', () => {
  expect(written('of two', 'two')).toBe('of two');
  expect(readFileSync(file(), 'utf8')).toBe('next');
});

test('beyond those that are kept open each is opened again', () => {
  const places = new ItemPlaces(1);
  for (const text of ['many words', 'few']) {
    places.write(1, file('far'), text);
    expect(readFileSync(file('far'), 'utf8')).toBe(text);
  }
  places.close();
});
