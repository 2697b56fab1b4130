/**
 * `npm run build`: writes `dist/`, the declarations of every file and the code of the entries.
 *
 * Most of what an import costs is the number of files that Node finds, reads and links, so the code of
 * an entry is one file, and what several entries share is in a few more beside it: a class is the same
 * class, whichever entry it came from. Packages stay outside, and what is imported by `import()` is
 * read when it comes to that. Source maps lead back to the sources, which are in the package.
 *
 *   node scripts/build.mjs              declarations and code, into dist/
 *   node scripts/build.mjs FOLDER       the code alone, into that folder
 */

import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { buildPage } from './build-page.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DIST = join(ROOT, 'dist');
/** Programs that are started by their file, besides the command line. */
const STARTED = ['cli/simulate/player.ts', 'cli/machine-tests/mutating.ts', 'demo/handlers.ts'];

const folder = process.argv[2];
if (folder === undefined) writeDeclarations();
await writeCode(folder ?? DIST);
await buildPage(join(folder ?? DIST, 'inspector', 'page'));

function writeDeclarations() {
  rmSync(DIST, { recursive: true, force: true });
  const compiler = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const project = join(ROOT, 'tsconfig.build.json');
  const args = [compiler, '-p', project, '--emitDeclarationOnly', '--sourceMap', 'false'];
  const { status } = spawnSync(process.execPath, args, { cwd: ROOT, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

async function writeCode(outdir) {
  const { exports, bin } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const built = [...Object.values(exports).flatMap((entry) => entry.default ?? []), bin.escapement];
  const entries = built.map((path) => path.replace('./dist/', '').replace(/\.js$/, '.ts'));
  await build({
    absWorkingDir: ROOT,
    entryPoints: [...entries, ...STARTED],
    outbase: ROOT,
    outdir,
    bundle: true,
    splitting: true,
    packages: 'external',
    format: 'esm',
    platform: 'node',
    target: 'node20',
    sourcemap: true,
    sourcesContent: false,
    chunkNames: 'shared/[name]-[hash]',
    logLevel: 'warning',
  });
  makeExecutable(join(outdir, 'cli', 'main.js'));
}

/** The sources cannot begin with the line that says what runs them: theirs begin with a header. */
function makeExecutable(file) {
  const map = JSON.parse(readFileSync(`${file}.map`, 'utf8'));
  writeFileSync(file, `#!/usr/bin/env node\n${readFileSync(file, 'utf8')}`);
  // One more line above the code: in a source map that is one semicolon.
  writeFileSync(`${file}.map`, JSON.stringify({ ...map, mappings: `;${map.mappings}` }));
  chmodSync(file, 0o755);
}
