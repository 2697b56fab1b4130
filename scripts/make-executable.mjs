/**
 * Makes a program of the compiled command line: puts the line in front that says it is
 * run by Node, and allows running it.
 *
 * The sources cannot have that line, because theirs begin with a header. Part of
 * `npm run build`; nothing else calls it.
 */

import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const BUILT = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
const file = process.argv[2] ?? BUILT;
const map = JSON.parse(readFileSync(`${file}.map`, 'utf8'));

writeFileSync(file, `#!/usr/bin/env node\n${readFileSync(file, 'utf8')}`);
// One more line above the code: in a source map that is one semicolon.
writeFileSync(`${file}.map`, JSON.stringify({ ...map, mappings: `;${map.mappings}` }));
chmodSync(file, 0o755);
