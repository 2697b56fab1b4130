/**
 * Page and recording in one file that opens from disk without a server: for reports of faults and for CI.
 *
 * Everything is inside: style, code, data, and ELK's worker as its authors publish it, packed. Its policy allows what is inside and nothing else.
 */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { RuntimeError } from '../runtime/base/errors.ts';
import type { RecordedHeader, RecordedLine } from './protocol.ts';
import { textOfLines } from './recording/formats.ts';
import { findPage } from './static-files.ts';

const POLICY =
  "default-src 'none'; script-src 'unsafe-inline' blob:; style-src 'unsafe-inline'; img-src data:; worker-src blob:";

/** @throws {RuntimeError} PACKAGE_MISSING where the page is not built */
export function singleFile(
  lines: ReadonlyArray<RecordedHeader | RecordedLine>,
  folder = findPage(),
): string {
  const start = folder === undefined ? undefined : join(folder, 'assets', 'at-rest.js');
  if (folder === undefined || start === undefined || !existsSync(start))
    throw new RuntimeError(
      'PACKAGE_MISSING',
      'The page of the inspector is not built here: npm run build:page makes it.',
    );
  const asset = (name: string): string => readFileSync(join(folder, 'assets', name), 'utf8');
  // The text is data in a script element: what could end the element is written as an escape.
  const data = JSON.stringify(textOfLines(lines)).replace(
    /[<\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  const code = (text: string): string =>
    text.replace(/<\/script/gi, '<\\/script').replace(/<!--/g, '<\\!--');
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${POLICY}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    `<title>${escaped(titleOf(lines))}</title>`,
    `<style>${asset('page.css').replace(/<\/style/gi, '<\\/style')}</style>`,
    '</head>',
    '<body>',
    '<div id="page"><noscript>The inspector needs JavaScript.</noscript></div>',
    `<script type="application/json" id="escapement-recording">${data}</script>`,
    `<script type="application/octet-stream" id="elk-worker">${packed(join(folder, 'assets', 'elk-worker.min.js'))}</script>`,
    `<script type="module">${code(asset('at-rest.js'))}</script>`,
    `<script type="module">${code(asset('page.js'))}</script>`,
    '</body>',
    '</html>',
    '',
  ].join('\n');
}

function titleOf([header]: ReadonlyArray<RecordedHeader | RecordedLine>): string {
  return header?.type === 'recording' ? header.title : 'Escapement inspector';
}

const escaped = (text: string): string =>
  text.slice(0, 200).replace(/[^ -~]|[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

/** A file as text that ends no element; empty where there is none. */
function packed(file: string): string {
  return existsSync(file) ? gzipSync(readFileSync(file)).toString('base64') : '';
}
