/**
 * Thousands of transactions on an LMDB file, in lives of some hundreds, with readers that stay for a while.
 *
 *   free-pages-program.js DIRECTORY TRANSACTIONS [as-it-comes]
 *
 * The binding is used as the store uses it, without syncs. The draws are the same each time: with the binding's
 * own way of keeping free pages (`as-it-comes`) LMDB aborts the process in the fourteenth life.
 */

import { open, type RootDatabase } from 'lmdb';
import { FREE_PAGES } from '../../stores/lmdb/environment.ts';

const SEED = 100;
const KEYS = 400;
const VALUE = Buffer.alloc(40_000, 'A');
const HISTORY_KEPT = 100;

const [directory = '', transactions, kept] = process.argv.slice(2);
let state = SEED;
let version = 0;

while (version < Number(transactions)) {
  const root = open<Buffer, Buffer>({
    path: directory,
    noSync: true,
    overlappingSync: false,
    eventTurnBatching: false,
    maxDbs: 8,
    encoding: 'binary',
    keyEncoding: 'binary',
    ...({ batchStartThreshold: 16, txnStartThreshold: 1 } as object),
    ...(kept === undefined && FREE_PAGES),
  });
  await live(root);
  await root.close();
}
process.stdout.write(`${version}\n`);

/** One life: opened, written to, read from, closed. */
async function live(root: RootDatabase<Buffer, Buffer>): Promise<void> {
  const table = (name: string) => root.openDB<Buffer, string>({ name, encoding: 'binary' });
  const head = root.openDB<Buffer, string>({ name: 'head', useVersions: true, encoding: 'binary' });
  const tables = ['records', 'rows', 'index', 'folded'].map(table);
  const history = table('history');
  if (version === 0) await head.put('h', VALUE.subarray(0, 1), 0);
  const length = 50 + below(3_000);
  const bigShare = random() < 0.3 ? 0.2 : 0.03;
  const write = (): void => {
    const target = tables[below(4)];
    const key = `k${below(KEYS)}${random() < 0.3 ? 'x'.repeat(below(60)) : ''}`;
    if (random() < 0.15) void target?.remove(key);
    else void target?.put(key, VALUE.subarray(0, below(random() < bigShare ? 40_000 : 1_200)));
  };
  let reader: { done(): void } | undefined;
  let until = 0;
  for (let count = 0; count < length; count += 1) {
    const writes = 1 + below(random() < 0.15 ? 120 : 6);
    await head.ifVersion('h', version, () => {
      for (let index = 0; index < writes; index += 1) write();
      const bytes = below(random() < 0.1 ? 30_000 : 3_000);
      void history.put(chunkKey(version), VALUE.subarray(0, bytes));
      if (random() < 0.05) sweep(history);
      void head.put('h', VALUE.subarray(0, 150), version + 1);
    });
    version += 1;
    if (reader !== undefined && count > until) {
      reader.done();
      reader = undefined;
    } else if (reader === undefined && random() < 0.05) {
      tables[0]?.get('k1');
      reader = root.useReadTransaction();
      until = count + below(random() < 0.2 ? 400 : 30);
    }
    if (random() < 0.1) tables[below(4)]?.get(`k${below(KEYS)}`);
    if (random() < 0.03) await new Promise((resolve) => setImmediate(resolve));
  }
  reader?.done();
}

function sweep(history: { remove(key: string): unknown }): void {
  const last = version - HISTORY_KEPT;
  for (let chunk = Math.max(0, version - 4 * HISTORY_KEPT); chunk < last; chunk += 1)
    void history.remove(chunkKey(chunk));
}

function chunkKey(chunk: number): string {
  return `c${String(chunk).padStart(12, '0')}`;
}

/** Xorshift: the same draws everywhere. */
function random(): number {
  state ^= state << 13;
  state >>>= 0;
  state ^= state >>> 17;
  state ^= state << 5;
  state >>>= 0;
  return state / 2 ** 32;
}

function below(max: number): number {
  return Math.floor(random() * max);
}
