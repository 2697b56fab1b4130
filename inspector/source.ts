/**
 * Source of an inspector: what the handler asks, whether it is a living node or something at rest.
 */

import type { ServerResponse } from 'node:http';
import type { Viewer } from './access.ts';
import type { Parameters } from './lookup.ts';
import type { CommandAnswer, Hello } from './protocol.ts';

export interface SourceFile {
  readonly name: string;
  readonly type: string;
  readonly text: string;
}

export interface SourceInspector {
  now(): number;
  hello(viewer: Viewer): Hello;
  /** @throws {RuntimeError} OPTION_INVALID of a path that is none, and what the view throws */
  query(path: string, parameters: Parameters): Promise<object>;
  /** A recording or a test as a file. @throws {RuntimeError} */
  file(name: 'recording' | 'test', parameters: Parameters): Promise<SourceFile>;
  /** Opens a stream; `begin` writes its head once there is room for it. Returns what ends it. @throws {HttpRefusal} overloaded */
  open(response: ServerResponse, viewer: Viewer, begin: () => void): () => void;
  /** @throws {RuntimeError} OPTION_INVALID */
  watch(body: unknown): void;
  /** @throws {RuntimeError} OPTION_INVALID of a command that is none */
  command(body: unknown, viewer: Viewer): Promise<CommandAnswer>;
  /** Logs a fault of ours under its number. */
  failed(fault: string, thrown: unknown): void;
  close(): void;
}
