/**
 * Logs of the processes of a cluster: their lines, in the order in which they came.
 *
 * Guarantees: a line that is JSON with an `event` is kept with the node that wrote it; this many at
 * most, the oldest go first. What is no such line is kept as text for the message about a process
 * that ended by itself.
 */

export interface LogRecord {
  readonly node: string;
  readonly event: string;
  /** Epoch milliseconds, on the clock that all processes of one machine share. */
  readonly at: number;
  readonly fields: Readonly<Record<string, unknown>>;
}

const RECORDS_MAX = 500_000;

type Reader = (record: LogRecord) => void;

export class LogBook {
  readonly #records: LogRecord[] = [];
  readonly #readers = new Set<Reader>();

  get records(): readonly LogRecord[] {
    return this.#records;
  }

  /** Hears every record from now on, until the returned function is called. */
  read(reader: Reader): () => void {
    this.#readers.add(reader);
    return () => void this.#readers.delete(reader);
  }

  /** One line of a node; false when it is no record. */
  take(node: string, line: string): boolean {
    const fields = parsed(line);
    if (fields === undefined || typeof fields.event !== 'string') return false;
    const at = Number(fields.at ?? fields.time ?? Date.now());
    const record = { node, event: fields.event, at, fields };
    if (this.#records.length >= RECORDS_MAX) this.#records.splice(0, RECORDS_MAX / 10);
    this.#records.push(record);
    for (const reader of this.#readers) reader(record);
    return true;
  }
}

function parsed(line: string): Readonly<Record<string, unknown>> | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    return JSON.parse(line);
  } catch {
    // The last line of a process that was killed while it wrote.
    return undefined;
  }
}
