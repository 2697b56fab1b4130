/**
 * Issues of a text that people wrote: each with line, column and the path of its field.
 *
 * Guarantees: ten are told, in the order of the text; the eleventh ends the reading, so that a file
 * of nothing but issues costs no more than one of ten. What is repeated of the file is cut and
 * escaped.
 */

import { type ErrorCode, RuntimeError } from '../runtime/base/errors.ts';

/** Takes issues as they are found; `at` says where, in the terms of what is read. */
export interface IssueSink<TPlace> {
  /** `what` follows the path: `must be …`. */
  add(at: TPlace, path: string, what: string): void;
}

/** Issues that one error tells of. */
const TOLD_MAX = 10;
/** Names in a path come from the file. */
const PATH_MAX = 200;

interface Issue {
  readonly offset: number;
  readonly path: string;
  readonly what: string;
}

export class Issues implements IssueSink<number> {
  readonly #text: string;
  readonly #file: string;
  readonly #code: ErrorCode;
  readonly #issues: Issue[] = [];

  constructor(text: string, file: string, code: ErrorCode = 'SCENARIO_INVALID') {
    this.#text = text;
    this.#file = file;
    this.#code = code;
  }

  get any(): boolean {
    return this.#issues.length > 0;
  }

  /** @throws {RuntimeError} when there are ten already. */
  add(offset: number, path: string, what: string): void {
    if (this.#issues.length >= TOLD_MAX) throw this.#error(`${this.#file}: and more.`);
    this.#issues.push({ offset, path, what });
  }

  /** @throws {RuntimeError} when there is an issue. */
  throwIfAny(): void {
    if (this.any) throw this.#error();
  }

  #error(...more: readonly string[]): RuntimeError {
    const inOrder = [...this.#issues].sort((one, other) => one.offset - other.offset);
    return new RuntimeError(
      this.#code,
      [...inOrder.map((issue) => this.#line(issue)), ...more].join('\n'),
    );
  }

  #line({ offset, path, what }: Issue): string {
    const { line, column } = positionsIn(this.#text)(offset);
    const field = path === '' ? '' : `${path.slice(0, PATH_MAX)}: `;
    const end = what.endsWith('?') ? '' : '.';
    return `${this.#file}:${line}:${column}: ${field}${what}${end}`;
  }
}

/** Finds line and column of offsets, both from 1 on. */
export function positionsIn(text: string): (offset: number) => { line: number; column: number } {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return (offset) => {
    let [line, after] = [0, starts.length];
    while (after - line > 1) {
      const middle = (line + after) >> 1;
      if ((starts[middle] as number) <= offset) line = middle;
      else after = middle;
    }
    return { line: line + 1, column: offset - (starts[line] as number) + 1 };
  };
}
