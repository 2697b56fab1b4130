/** `version`: which release this is, what it runs on, and which formats it reads and writes. */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Command } from 'commander';
import { ownVersion } from './own-version.ts';
import type { Output } from './render/output.ts';

const require = createRequire(import.meta.url);

export function versionCommand(output: Output): Command {
  return new Command('version')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  $ escapement version\n  $ escapement version --json\n\nExit codes: 0.',
    )
    .action(async ({ json }: { json?: boolean }) => {
      const { RECORD_FORMAT } = await import('../runtime/actor.ts');
      const { STORE_FORMAT } = await import('../stores/lmdb/row.ts');
      const versions = {
        escapement: ownVersion(),
        node: process.versions.node,
        xstate: installedVersion('xstate'),
        lmdb: installedVersion('lmdb'),
        recordFormat: RECORD_FORMAT,
        storeFormat: STORE_FORMAT,
      };
      if (json === true) {
        output.line(JSON.stringify(versions, null, 2));
        return;
      }
      output.line(`escapement     ${versions.escapement}`);
      output.line(`node           ${versions.node}`);
      output.line(`xstate         ${versions.xstate ?? 'not installed'}`);
      output.line(`lmdb           ${versions.lmdb ?? 'not installed'}`);
      output.line(`record format  ${versions.recordFormat}`);
      output.line(`store format   ${versions.storeFormat}`);
    });
}

/** Not every package exports its package.json, so it is looked for above the code; null when there is none. */
function installedVersion(name: string): string | null {
  let folder: string;
  try {
    folder = dirname(require.resolve(name));
  } catch {
    return null;
  }
  while (folder !== dirname(folder)) {
    const found = packageIn(folder);
    if (found?.name === name && found.version !== undefined) return found.version;
    folder = dirname(folder);
  }
  return null;
}

function packageIn(folder: string): { name?: string; version?: string } | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  } catch {
    return undefined;
  }
}
