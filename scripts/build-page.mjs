/**
 * Builds the page of the inspector: plain files that a server hands out, and that load nothing from elsewhere.
 *
 *   node scripts/build-page.mjs [FOLDER]     default inspector/dist
 *
 * ELK's worker is copied as its authors publish it. Takes a moment, so `npm start` and the tests do it each time.
 */

import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PAGE = join(ROOT, 'inspector', 'page');

export async function buildPage(folder = join(ROOT, 'inspector', 'dist')) {
  const assets = join(folder, 'assets');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(assets, { recursive: true });
  await build({
    absWorkingDir: ROOT,
    entryPoints: {
      page: join(PAGE, 'main.tsx'),
      'at-rest': join(ROOT, 'inspector', 'recording', 'at-rest.ts'),
    },
    outdir: assets,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2023',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    logLevel: 'warning',
  });
  const { CHART_COLOURS_DARK, CHART_COLOURS_LIGHT, CHART_STYLE } = await chartStyle();
  const colours = `:root{${CHART_COLOURS_LIGHT}}@media (prefers-color-scheme:dark){:root{${CHART_COLOURS_DARK}}}`;
  writeFileSync(
    join(assets, 'page.css'),
    `${colours}\n${CHART_STYLE}\n${readFileSync(join(PAGE, 'page.css'), 'utf8')}`,
  );
  const worker = createRequire(import.meta.url).resolve('elkjs/lib/elk-worker.min.js');
  copyFileSync(worker, join(assets, 'elk-worker.min.js'));
  copyFileSync(join(PAGE, 'icon.svg'), join(assets, 'icon.svg'));
  copyFileSync(join(PAGE, 'index.html'), join(folder, 'index.html'));
}

/** The style of charts is TypeScript, because files that stand alone carry it too. */
async function chartStyle() {
  const { outputFiles } = await build({
    entryPoints: [join(ROOT, 'inspector', 'drawing', 'chart-style.ts')],
    format: 'esm',
    write: false,
  });
  const [{ text }] = outputFiles;
  return import(`data:text/javascript,${encodeURIComponent(text)}`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  await buildPage(process.argv[2] === undefined ? undefined : resolve(process.argv[2]));
