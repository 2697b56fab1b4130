/**
 * Tables by name, as they lie in a context: changed by making a new one.
 *
 * A worker may hold a thousand attempts, and each of its turns makes such a table. Key by key that
 * is several times faster than spreading and leaving out by name, which V8 does slowly for many keys.
 */

export type Table<TEntry> = Readonly<Record<string, TEntry>>;

export function withEntry<TEntry>(
  table: Table<TEntry>,
  name: string,
  entry: TEntry,
): Table<TEntry> {
  const changed = copy(table);
  changed[name] = entry;
  return changed;
}

export function without<TEntry>(table: Table<TEntry>, name: string): Table<TEntry> {
  const changed: Record<string, TEntry> = {};
  for (const key in table) if (key !== name) changed[key] = table[key] as TEntry;
  return changed;
}

/** A table of one's own, to be changed while it is made. */
export function copy<TEntry>(table: Table<TEntry>): Record<string, TEntry> {
  const copied: Record<string, TEntry> = {};
  for (const key in table) copied[key] = table[key] as TEntry;
  return copied;
}
