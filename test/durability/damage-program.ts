/**
 * Opens damaged copies of a data file, one after the other, and says how each ended.
 *
 *   damage-program.js FOLDER FIRST
 *
 * FOLDER has `data.mdb`, `contents.json` and `cases.json`; FIRST is the case to begin with. Each
 * case is announced before it is opened, so that the parent process knows which one killed it.
 */

import { mkdirSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Store } from '../../runtime/ports/store.ts';
import { Environment } from '../../stores/lmdb/environment.ts';
import { verifyStore } from '../../stores/lmdb/verify.ts';
import { lmdbStore } from '../../stores/lmdb.ts';
import { type Contents, type Difference, differenceFrom } from './contents.ts';
import { type Damage, damagedCopy } from './damage.ts';
import { PLACE } from './filled-directory.ts';

export interface Opened extends Difference {
  readonly index: number;
  /** What the store was refused with; the rest is empty then. */
  readonly refused?: string;
  /** How many actors the store reports as damaged. */
  readonly damaged: number;
  /** How many problems a verification finds; looked for only where something beside records differs. */
  readonly problems: number;
}

const WRITES = 12;
const NOTHING: Difference = { records: [], queries: [], history: [], undelivered: [] };
const [folder = '', first = '0'] = process.argv.slice(2);
const file = readFileSync(join(folder, 'data.mdb'));
const expected: Contents = JSON.parse(readFileSync(join(folder, 'contents.json'), 'utf8'));
const cases: Damage[] = JSON.parse(readFileSync(join(folder, 'cases.json'), 'utf8'));

for (let index = Number(first); index < cases.length; index += 1) {
  tell({ begins: index });
  tell(await open(index, cases[index] as Damage));
}

async function open(index: number, damage: Damage): Promise<Opened> {
  const directory = join(folder, `copy-${index}`);
  mkdirSync(directory);
  writeFileSync(join(directory, 'data.mdb'), damagedCopy(file, damage));
  const store = lmdbStore(directory);
  try {
    await store.open(PLACE);
    const damaged = [...store.damaged()].length;
    const difference = differenceFrom(expected, store);
    const isSame = Object.values(difference).every(({ length }) => length === 0);
    if (isSame && damaged === 0) return { index, ...(await writeOn(store, directory)) };
    await store.close();
    return { index, damaged, problems: isSame ? 0 : await verify(directory), ...difference };
  } catch (thrown) {
    const { code } = thrown as { code?: string };
    return { index, refused: code ?? `untyped: ${thrown}`, damaged: 0, problems: 0, ...NOTHING };
  } finally {
    await store.close();
    rmSync(directory, { recursive: true });
  }
}

/**
 * Damage that nothing shows yet, such as a live page among the free ones, may show when something
 * is written: some records are, and the store is opened again. A commit that meets a broken page is refused, and
 * then nothing of it is there, or fails, and the store with it: then what was acknowledged is there, and of the
 * commit that failed all or nothing.
 */
async function writeOn(store: Store, directory: string): Promise<Omit<Opened, 'index'>> {
  const fence = store.fence(PLACE) + 1;
  const actors = { ...expected.actors };
  const addresses = Object.keys(actors);
  let unsure: Contents['actors'] | undefined;
  let isRefused = false;
  for (let number = 0; number < WRITES && unsure === undefined && !isRefused; number += 1) {
    const address = addresses[number * 3] as string;
    const [, entry = ''] = actors[address] ?? [];
    const record = `{"written":${number},"note":"${'y'.repeat(number * 40)}"}`;
    const writes = [{ address, record, entry: JSON.parse(entry), history: [] }];
    const refusal = await new Promise<Error | undefined>((resolve) => {
      store.commit({ shard: PLACE, fence, writes }, resolve);
    });
    const { code } = (refusal ?? {}) as { readonly code?: string };
    if (refusal === undefined) actors[address] = [record, entry];
    else if (code === 'COMMIT_REFUSED') isRefused = true;
    else if (code === 'STORE_FAILED') unsure = { ...actors, [address]: [record, entry] };
    else throw refusal;
  }
  await store.close();
  const again = lmdbStore(directory);
  try {
    await again.open(PLACE);
    const damaged = [...again.damaged()].length;
    const wrongIn = (held: Contents['actors']) =>
      differenceFrom({ ...expected, actors: held }, again).records;
    const wrong = wrongIn(actors);
    const records = wrong.length > 0 && unsure !== undefined ? wrongIn(unsure) : wrong;
    return { damaged, problems: 0, ...NOTHING, records };
  } finally {
    await again.close();
  }
}

/** What `data verify` says. */
async function verify(directory: string): Promise<number> {
  const environment = await Environment.open(directory, { isReadOnly: true });
  try {
    return verifyStore(environment, directory).problems.length;
  } catch {
    // It is told all right, if not in good order.
    return 1;
  } finally {
    await environment.close();
  }
}

function tell(line: object): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}
