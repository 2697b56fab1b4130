/** Version of this release. */

import { createRequire } from 'node:module';

/** Found by the package's own name, which is right in the sources and in the package alike. */
export function ownVersion(): string {
  const require = createRequire(import.meta.url);
  return (require('escapement/package.json') as { version: string }).version;
}
