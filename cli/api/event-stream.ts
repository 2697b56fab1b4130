/**
 * Server-sent events, read from the bytes of an answer.
 *
 * Guarantees: an event comes once its empty line has come; one that is cut off at the end is
 * dropped, as browsers do. A line, and the data of an event, may take a million characters each:
 * longer ones end the reading.
 */

export interface ServerEvent {
  /** `message` where the stream does not say. */
  readonly event: string;
  readonly data: string;
  /** The last one that was given. */
  readonly id: string | undefined;
}

const LENGTH_MAX = 1_000_000;

/** @throws {RangeError} for a line or an event that is too long; whatever `chunks` throws. */
export async function* readEvents(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<ServerEvent, void, undefined> {
  const decoder = new TextDecoder();
  const reader = new EventReader();
  let rest = '';
  for await (const chunk of chunks) {
    rest += decoder.decode(chunk, { stream: true });
    // A carriage return at the end may be half of a line end.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() as string;
    checkLength(rest);
    for (const line of lines) {
      const event = reader.take(line);
      if (event !== undefined) yield event;
    }
  }
  // What seemed to be half of a line end was a whole one.
  const last = rest.endsWith('\r') ? reader.take(rest.slice(0, -1)) : undefined;
  if (last !== undefined) yield last;
}

class EventReader {
  #event = '';
  #data: string[] = [];
  #length = 0;
  #id: string | undefined;

  /** The event that this line has ended. */
  take(line: string): ServerEvent | undefined {
    if (line === '') return this.#end();
    const colon = line.indexOf(':');
    // A line that begins with a colon is a comment, which keeps the connection awake.
    if (colon === 0) return undefined;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'event') this.#event = value;
    else if (field === 'id' && !value.includes('\0')) this.#id = value;
    else if (field === 'data') {
      this.#length += value.length;
      checkLength(value, this.#length);
      this.#data.push(value);
    }
    return undefined;
  }

  #end(): ServerEvent | undefined {
    const [event, data] = [this.#event, this.#data];
    this.#event = '';
    this.#data = [];
    this.#length = 0;
    if (data.length === 0) return undefined;
    return { event: event === '' ? 'message' : event, data: data.join('\n'), id: this.#id };
  }
}

function checkLength(text: string, length = text.length): void {
  if (length > LENGTH_MAX) throw new RangeError('an event of its stream is too long');
}
