/**
 * Files of the page: read once from the folder of the built bundle, with their types; a designed page where the bundle
 * is not there.
 */

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface StaticFile {
  readonly type: string;
  readonly body: Buffer;
  readonly etag: string;
  /** True of files whose name has a hash in it: they never change. */
  readonly isImmutable: boolean;
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.json': 'application/json; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.md': 'text/plain; charset=utf-8',
};

const FILES_MAX = 500;

/** Folders in which the bundle may be: beside the sources, and in the package as it is published. */
function pageFolders(): readonly string[] {
  const here = fileURLToPath(new URL('.', import.meta.url));
  return [
    join(here, 'dist'),
    join(here, 'page'),
    join(here, 'inspector', 'page'),
    join(here, '..', 'inspector', 'page'),
    join(here, '..', 'inspector', 'dist'),
  ];
}

/** Folder of the built page; undefined where there is none. */
export function findPage(given?: string): string | undefined {
  const folders = given === undefined ? pageFolders() : [given];
  // The sources of the page have an index.html too, and no built files beside it.
  return folders.find(
    (folder) => existsSync(join(folder, 'index.html')) && existsSync(join(folder, 'assets')),
  );
}

/** Files by their path below the page, such as `assets/page.js`; `index.html` is there always. */
export function readPage(given?: string): ReadonlyMap<string, StaticFile> {
  const folder = findPage(given);
  const files = new Map<string, StaticFile>();
  if (folder !== undefined)
    for (const path of listed(folder)) {
      const type = TYPES[extname(path)];
      if (type === undefined) continue;
      files.set(
        relative(folder, path).split(sep).join('/'),
        fileOf(type, readFileSync(path), path),
      );
    }
  if (!files.has('index.html'))
    files.set('index.html', fileOf(TYPES['.html'] as string, Buffer.from(MINIMAL_PAGE), ''));
  return files;
}

function listed(folder: string): string[] {
  const found: string[] = [];
  for (const name of readdirSync(folder).sort()) {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) found.push(...listed(path));
    else found.push(path);
    if (found.length >= FILES_MAX) break;
  }
  return found;
}

function fileOf(type: string, body: Buffer, path: string): StaticFile {
  const digest = createHash('sha256').update(body).digest('base64url').slice(0, 22);
  return { type, body, etag: `"${digest}"`, isImmutable: /-[A-Za-z0-9_-]{8,}\.\w+$/.test(path) };
}

/** Page without script: it says where the data is and how to build the page. */
const MINIMAL_PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Escapement inspector</title>
<h1>The inspector's server runs, its page is not built here</h1>
<p>From a clone, build it with <code>npm run build:page</code> and load this again.</p>
<p>Its data is there: <a href="api/hello">who this is</a>, <a href="api/overview">overview</a>,
<a href="api/actors">actors</a>, <a href="api/timeouts">timeouts</a>.</p>
<p>In a terminal: <code>escapement why ADDRESS</code>.</p>
</html>
`;
