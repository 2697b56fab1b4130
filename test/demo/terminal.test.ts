/** Terminal of the demo: every column of it can be seen, and it is left as it was. */

import { PassThrough } from 'node:stream';
import type { ReadStream, WriteStream } from 'node:tty';
import { expect, test } from 'vitest';
import { Terminal } from '../../demo/terminal.ts';

const ESC = '\u001b';

function fakeTerminal() {
  const input = Object.assign(new PassThrough(), { setRawMode: () => input });
  const output = Object.assign(new PassThrough(), { columns: 5, rows: 2 });
  let written = '';
  output.on('data', (text) => {
    written += String(text);
  });
  return {
    input: input as unknown as ReadStream,
    output: output as unknown as WriteStream,
    written: () => written,
  };
}

test('a line as wide as the terminal keeps its last character', () => {
  const { input, output, written } = fakeTerminal();
  const terminal = new Terminal({ input, output, draw: () => ['abcd…', 'x'], onKey: () => {} });
  terminal.leave();
  expect(written()).toContain(`${ESC}[1;1H${ESC}[Kabcd…${ESC}[2;1H${ESC}[Kx`);
  expect(written().endsWith(`${ESC}[?1049l`)).toBe(true);
});

test('every key of a pasted text is heard', () => {
  const { input, output } = fakeTerminal();
  const heard: string[] = [];
  const terminal = new Terminal({
    ...{ input, output },
    draw: () => [],
    onKey: (key) => heard.push(key),
  });
  input.emit('data', Buffer.from('pk'));
  terminal.leave();
  input.emit('data', Buffer.from('r'));
  expect(heard).toEqual(['p', 'k']);
});
