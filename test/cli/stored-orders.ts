/** Data directories on disk, filled by a real runtime, and modules with releases of the same machine. */

import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lmdbStore } from '../../stores/lmdb.ts';
import { ROOT } from '../project-files.ts';
import { running } from '../rehearsal/releases.ts';

/** A new folder inside the project, where modules find `xstate`. */
export function newFolder(): string {
  const parent = join(ROOT, 'test', '.tmp');
  mkdirSync(parent, { recursive: true });
  return mkdtempSync(join(parent, 'cli-'));
}

export interface ModuleShape {
  readonly open?: string;
  readonly limit?: number;
  readonly after?: string;
  /** What stands after the machine, such as `version: 2, migrate: …`. */
  readonly options?: string;
  readonly kind?: string;
}

/** Writes a module that exports `kinds`; returns its path. */
export function writeModule(folder: string, name: string, shape: ModuleShape = {}): string {
  const { open = 'open', limit = 900_000, after = "{ limit: 'expired' }" } = shape;
  const { options = 'version: 1', kind = 'order' } = shape;
  const path = join(folder, name);
  writeFileSync(
    path,
    `import { setup } from 'xstate';
const machine = setup({ delays: { limit: ${limit}, reminder: 60_000 } }).createMachine({
  id: 'order',
  context: ({ input }) => ({ total: input.total }),
  initial: '${open}',
  states: {
    ${open}: { on: { 'order.paid': 'paid' }, after: ${after} },
    paid: {},
    expired: {},
  },
});
export const kinds = { ${kind}: { machine, ${options} } };
`,
  );
  return path;
}

/** A directory with `count` open orders, written by the release in the module. */
export async function storedOrders(folder: string, module: string, count: number): Promise<string> {
  const directory = join(folder, 'data');
  const { kinds } = (await import(/* @vite-ignore */ module)) as { kinds: Record<string, unknown> };
  const [kind] = Object.keys(kinds);
  const runtime = await running(kinds, lmdbStore(directory));
  for (let number = 1; number <= count; number += 1)
    await runtime.spawn(`${kind}/${number}` as 'order/1', { input: { total: number } } as never);
  await runtime.stop();
  return directory;
}
