/**
 * Inspector of a recording, a dead directory or a played plan, served like a living one; nothing in it changes.
 */

import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { messageOf, RuntimeError } from '../runtime/base/errors.ts';
import { type Logger, SILENT_LOGGER } from '../runtime/base/limits.ts';
import type { Viewer } from './access.ts';
import { type InspectorListener, listenFor } from './listen.ts';
import type { Parameters } from './lookup.ts';
import { listOf, textOf } from './lookup.ts';
import { handlerOf } from './mount.ts';
import { resolveOptions } from './options.ts';
import type {
  CommandAnswer,
  Hello,
  RecordedHeader,
  RecordedLine,
  SourceSort,
  Watch,
} from './protocol.ts';
import { fileOf } from './recording/formats.ts';
import { Recorded } from './recording/recorded.ts';
import { Resting } from './recording/resting.ts';
import { testFileOf } from './recording/test-file.ts';
import type { SourceFile, SourceInspector } from './source.ts';
import { FrameStream } from './stream.ts';

type Lines = ReadonlyArray<RecordedHeader | RecordedLine>;

/** @throws {RuntimeError} OPTION_INVALID when no port is free */
export function serveLines(
  lines: Lines,
  source: SourceSort,
  { port, logger = SILENT_LOGGER }: { readonly port?: number; readonly logger?: Logger } = {},
): Promise<InspectorListener> {
  const handler = handlerOf(
    new RestingInspector(lines, source, logger),
    resolveOptions({ commands: false }),
  );
  return listenFor(handler, port === undefined ? {} : { port }, logger, true);
}

class RestingInspector implements SourceInspector {
  readonly #lines: Lines;
  readonly #resting: Resting;
  readonly #logger: Logger;
  readonly #streams = new Map<string, FrameStream>();

  constructor(lines: Lines, source: SourceSort, logger: Logger) {
    this.#lines = lines;
    this.#resting = new Resting(new Recorded(lines), source);
    this.#logger = logger;
  }

  now(): number {
    return this.#resting.now();
  }

  hello(_viewer: Viewer): Hello {
    return this.#resting.hello();
  }

  async query(path: string, parameters: Parameters): Promise<object> {
    const answer = await this.#resting.query(path, parameters);
    if (answer !== undefined) return answer;
    throw new RuntimeError(
      'ACTOR_UNKNOWN',
      `There is no answer to "${path}" of that in what is at rest here.`,
    );
  }

  async file(name: 'recording' | 'test', parameters: Parameters): Promise<SourceFile> {
    if (name === 'recording') return fileOf(this.#lines, textOf(parameters, 'format') ?? 'jsonl');
    const [address = ''] = listOf(parameters, 'address');
    const turn = textOf(parameters, 'turn');
    return testFileOf(this.#lines, address, turn === undefined ? undefined : Number(turn));
  }

  open(response: ServerResponse, _viewer: Viewer, begin: () => void): () => void {
    begin();
    const stream = new FrameStream(randomUUID(), response, Number.MAX_SAFE_INTEGER);
    this.#streams.set(stream.id, stream);
    stream.send({
      at: this.now(),
      type: 'opened',
      stream: stream.id,
      hello: this.#resting.hello(),
    });
    return () => this.#streams.delete(stream.id);
  }

  watch(body: unknown): void {
    const { stream: id = '', ...watch } = (body ?? {}) as Partial<Watch>;
    const stream = this.#streams.get(id);
    if (stream === undefined)
      throw new RuntimeError('OPTION_INVALID', 'There is no such stream: open it again.');
    this.#resting.frames(watch).then(
      (frames) => {
        for (const frame of frames) stream.send(frame);
      },
      (thrown: unknown) => this.failed(randomUUID(), thrown),
    );
  }

  async command(): Promise<CommandAnswer> {
    return { at: this.now(), outcome: 'refused', why: 'This is at rest.', code: 'NOT_ALLOWED' };
  }

  failed(fault: string, thrown: unknown): void {
    this.#logger.error({ fault, error: messageOf(thrown) }, 'a request to the inspector failed');
  }

  close(): void {
    for (const stream of this.#streams.values())
      stream.end({ at: this.now(), type: 'closing', why: 'The inspector ends.', retry: false });
    this.#streams.clear();
  }
}
