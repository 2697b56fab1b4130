/** Version of this release, as the inspector says it. */

import { createRequire } from 'node:module';

let known: string | undefined;

/** Found by the package's own name, which is right in the sources and in the package alike. */
export function ownVersion(): string {
  known ??= (createRequire(import.meta.url)('escapement/package.json') as { version: string })
    .version;
  return known;
}
