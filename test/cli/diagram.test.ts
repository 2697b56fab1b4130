/** `escapement diagram`, with modules of a user's own. */

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { escapement } from './command-line.ts';
import { newFolder, writeModule } from './stored-orders.ts';

const folder = newFolder();
const module = writeModule(folder, 'kinds.mjs');
const out = join(folder, 'out');
mkdirSync(out);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('draws each machine into a file, in the formats that were asked for', async () => {
  const ended = await escapement(['diagram', module, '--svg', '--mermaid', '--dot', '--out', out]);
  const files = ['order.svg', 'order.mmd', 'order.dot'].map((name) => join(out, name));
  expect(ended).toEqual({ code: 0, out: `${files.join('\n')}\n`, err: '' });
  const [svg = '', mermaid = '', dot = ''] = files.map((file) => readFileSync(file, 'utf8'));
  for (const text of ['expired', 'order.paid', 'after limit']) expect(svg).toContain(text);
  expect(mermaid).toContain('s1 --> s3 : after limit');
  expect(dot).toContain('"state open" -> "state expired" [label="after limit"]');
});

test('draws over its own drawings and over nothing else', async () => {
  expect((await escapement(['diagram', module, '--dot', '--out', out])).code).toBe(0);
  writeFileSync(join(out, 'order.svg'), 'a picture of mine');
  const { code, err } = await escapement(['diagram', module, '--svg', '--dot', '--out', out]);
  expect(code).toBe(73);
  expect(err).toContain('order.svg is there and was not drawn by this command');
  expect(readFileSync(join(out, 'order.svg'), 'utf8')).toBe('a picture of mine');
  expect((await escapement(['diagram', module, '--force', '--out', out])).code).toBe(0);
  expect(readFileSync(join(out, 'order.svg'), 'utf8')).toContain('</svg>');
});

test('prints instead, and prints the definition', async () => {
  const { out: text } = await escapement(['diagram', module, '--mermaid', '--out', '-']);
  expect(text).toMatch(/^%% Drawn by .*\nstateDiagram-v2\n/);
  const { out: json } = await escapement(['diagram', module, '--json']);
  expect(JSON.parse(json).order).toMatchObject({
    machine: 'order',
    hash: expect.stringMatching(/^[0-9a-f]{16}$/),
  });
});

test('writes no file outside of its folder, whatever a kind is called', async () => {
  const path = writeModule(folder, 'outside.mjs', { kind: '"../../outside"' });
  expect((await escapement(['diagram', path, '--dot', '--out', out])).code).toBe(0);
  expect(readdirSync(out)).toContain('outside.dot');
  expect(existsSync(join(folder, 'outside.dot'))).toBe(false);
});

test('says what is wrong with a module, a kind and a folder', async () => {
  const ofKind = await escapement(['diagram', module, '--kind', 'ordr']);
  expect(ofKind).toMatchObject({ code: 64, err: 'error: --kind ordr: the module has order.\n' });
  const empty = join(folder, 'empty.mjs');
  writeFileSync(empty, 'export const nothing = 1;\n');
  const without = await escapement(['diagram', empty]);
  expect(without.code).toBe(65);
  expect(without.err).toContain('It must export "kinds"');
  const nowhere = await escapement(['diagram', module, '--out', join(folder, 'nosuch')]);
  expect(nowhere.code).toBe(65);
  expect(nowhere.err).toContain('no such file or directory');
});
