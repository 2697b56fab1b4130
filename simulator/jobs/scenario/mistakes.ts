/**
 * Issues of a scenario file: each with line, column and the path of its field.
 *
 * Guarantees: ten are told, in the order of the text; the eleventh ends the reading, so that a file
 * of nothing but mistakes costs no more than one of ten. What is repeated of the file is cut and
 * escaped.
 */

import { RuntimeError } from '../../../runtime/base/errors.ts';

/** Mistakes that one error tells of. */
const TOLD_MAX = 10;

interface Mistake {
  readonly offset: number;
  readonly path: string;
  readonly what: string;
}

export class Mistakes {
  readonly #text: string;
  readonly #file: string;
  readonly #mistakes: Mistake[] = [];

  constructor(text: string, file: string) {
    this.#text = text;
    this.#file = file;
  }

  get any(): boolean {
    return this.#mistakes.length > 0;
  }

  /** `what` follows the path: `must be …`. @throws {RuntimeError} SCENARIO_INVALID, when there are ten already. */
  add(offset: number, path: string, what: string): void {
    if (this.#mistakes.length >= TOLD_MAX) throw this.#error(`${this.#file}: and more.`);
    this.#mistakes.push({ offset, path, what });
  }

  /** @throws {RuntimeError} SCENARIO_INVALID, when there is a mistake. */
  throwIfAny(): void {
    if (this.any) throw this.#error();
  }

  #error(...more: readonly string[]): RuntimeError {
    const inOrder = [...this.#mistakes].sort((one, other) => one.offset - other.offset);
    const told = inOrder.map((mistake) => this.#line(mistake));
    return new RuntimeError('SCENARIO_INVALID', [...told, ...more].join('\n'));
  }

  #line({ offset, path, what }: Mistake): string {
    const before = this.#text.slice(0, offset);
    const line = before.split('\n').length;
    const column = offset - (before.lastIndexOf('\n') + 1) + 1;
    const field = path === '' ? '' : `${path.slice(0, PATH_MAX)}: `;
    const end = what.endsWith('?') ? '' : '.';
    return `${this.#file}:${line}:${column}: ${field}${what}${end}`;
  }
}

/** Names in a path come from the file. */
const PATH_MAX = 200;
