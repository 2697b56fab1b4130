/**
 * Contents of a data directory, in a form that can be compared: taken once from the directory as it was
 * written, and compared with copies that were damaged afterwards.
 */

import type { Store, StoreQuery } from '../../runtime/ports/store.ts';

export interface Contents {
  /** Record and index entry by address. */
  readonly actors: Readonly<Record<string, readonly [record: string | undefined, entry: string]>>;
  readonly history: Readonly<Record<string, readonly string[]>>;
  readonly undelivered: ReadonlyArray<readonly [id: string, row: string]>;
}

const HISTORY_ROWS = 100;

export function contentsOf(store: Store): Contents {
  const entries = [...store.entries()];
  return {
    actors: Object.fromEntries(
      entries.map(([address, entry]) => [address, [store.load(address), JSON.stringify(entry)]]),
    ),
    history: Object.fromEntries(
      entries.map(([address]) => [address, store.history(address, HISTORY_ROWS)]),
    ),
    undelivered: [...store.undelivered()],
  };
}

/** What an open store holds otherwise than it should, leaving out what it reports itself. */
export interface Difference {
  /** Actors whose record is missing or another one, although nobody says so. */
  readonly records: readonly string[];
  readonly queries: readonly string[];
  readonly history: readonly string[];
  readonly undelivered: readonly string[];
}

export function differenceFrom(expected: Contents, store: Store): Difference {
  const reported = new Set([...store.damaged()].map(([address]) => address));
  const sound = Object.keys(expected.actors).filter((address) => !reported.has(address));
  const entries = new Map([...store.entries()].map(([address, entry]) => [address, entry]));
  const records: string[] = [];
  const history: string[] = [];
  for (const address of sound) {
    const [record, entry] = expected.actors[address] ?? [];
    const loaded = attempt(() => store.load(address));
    if (loaded !== record) records.push(`${address}: load gives ${shown(loaded)}`);
    else if (JSON.stringify(entries.get(address)) !== entry)
      records.push(`${address}: its entry differs`);
    const rows = attempt(() => store.history(address, HISTORY_ROWS).join('\n'));
    if (rows !== expected.history[address]?.join('\n')) history.push(`${address}: ${shown(rows)}`);
  }
  for (const address of entries.keys())
    if (expected.actors[address] === undefined) records.push(`${address}: nobody wrote it`);
  // Nobody counts these: one that is missing altogether is known to nobody.
  const kept = new Set(expected.undelivered.map(String));
  const isKept = (row: readonly [string, string]): boolean => kept.has(String(row));
  const foreign = attempt(() => [...store.undelivered()].filter((row) => !isKept(row)).join('\n'));
  return {
    records,
    queries: queryDifferences(expected, store, sound),
    history,
    undelivered: foreign === '' ? [] : [`undelivered: ${shown(foreign)}`],
  };
}

function queryDifferences(expected: Contents, store: Store, sound: readonly string[]): string[] {
  const questions: ReadonlyArray<Omit<StoreQuery, 'limit'>> = [
    { state: 'open' },
    { state: 'paid' },
    { tag: 'unpaid' },
    { kind: 'order' },
  ];
  return questions.flatMap((question) => {
    const isMatch = (address: string): boolean => {
      const { state, tags, kind } = JSON.parse(expected.actors[address]?.[1] ?? '{}');
      if (question.kind !== undefined) return kind === question.kind;
      return question.tag === undefined ? state === question.state : tags.includes(question.tag);
    };
    const wanted = sound.filter(isMatch).sort().join();
    const found = attempt(() =>
      store
        .query({ ...question, limit: 100_000 })
        .rows.map(([address]) => address)
        .sort()
        .join(),
    );
    return found === wanted ? [] : [`${JSON.stringify(question)}: ${shown(found)}`];
  });
}

function attempt(read: () => string | undefined): string | undefined {
  try {
    return read();
  } catch (thrown) {
    return `threw ${(thrown as { code?: string }).code ?? thrown}`;
  }
}

function shown(value: string | undefined): string {
  return value === undefined ? 'nothing' : value.slice(0, 60);
}
