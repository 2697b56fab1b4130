/**
 * Source of a workflow: YAML or JSON as plain values, with the place of each, and the errors that name it.
 *
 * Only the core schema: no tags, no classes, no merge keys beyond YAML 1.2, and few aliases, so that a file
 * cannot come to more than it has. Positions count from 1.
 */

import { isMap, isNode, LineCounter, parseDocument } from 'yaml';
import { messageOf, RuntimeError } from '../../../runtime/base/errors.ts';

/** Names and indexes from the root to a value. */
export type Path = ReadonlyArray<string | number>;

export interface Source {
  readonly value: unknown;
  /** `file:line:column`, or as much of it as is known. */
  place(path: Path): string;
}

const BYTES_MAX = 1024 * 1024;
const ALIASES_MAX = 100;

/** A workflow that cannot be run. */
export class WorkflowError extends RuntimeError {
  /** `file:line:column` of what is wrong; empty where there is no file. */
  readonly place: string;

  constructor(message: string, place: string) {
    super('WORKFLOW_INVALID', message);
    this.place = place;
  }
}

/** @throws {WorkflowError} */
export function readSource(text: string, file: string): Source {
  if (Buffer.byteLength(text) > BYTES_MAX)
    throw new WorkflowError(`Invalid workflow: it is larger than ${BYTES_MAX} bytes`, file);
  const lines = new LineCounter();
  const document = parseDocument(text, {
    schema: 'core',
    lineCounter: lines,
    uniqueKeys: true,
    prettyErrors: false,
  });
  const positioned = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${file}:${line}:${col}`;
  };
  const [problem] = [...document.errors, ...document.warnings];
  if (problem !== undefined)
    throw new WorkflowError(`Invalid workflow: ${problem.message}`, positioned(problem.pos[0]));
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: ALIASES_MAX });
  } catch (thrown) {
    throw new WorkflowError(`Invalid workflow: ${messageOf(thrown)}`, file);
  }
  return {
    value,
    place: (path) => {
      for (let length = path.length; length >= 0; length--) {
        const offset = offsetAt(document, path.slice(0, length));
        if (offset !== undefined) return positioned(offset);
      }
      return file;
    },
  };
}

/** A workflow that is an object already. */
export function objectSource(value: unknown): Source {
  return { value, place: () => '' };
}

/** Offset of the key of a member, or else of the value. */
function offsetAt(document: ReturnType<typeof parseDocument>, path: Path): number | undefined {
  const parent = path.length === 0 ? undefined : document.getIn(path.slice(0, -1), true);
  if (isMap(parent)) {
    const pair = parent.items.find(({ key }) => String(key) === String(path.at(-1)));
    if (isNode(pair?.key)) return pair.key.range?.[0];
  }
  const node = path.length === 0 ? document.contents : document.getIn(path, true);
  return isNode(node) ? node.range?.[0] : undefined;
}
