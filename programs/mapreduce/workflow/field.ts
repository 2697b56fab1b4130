/**
 * Field of a workflow: a value with its path, read with the checks that belong to it.
 *
 * Every error names the path and its place in the file. Those of time limits have words of their own, which
 * scripts look for.
 */

import { findLikelyOf } from '../../../runtime/base/suggestion.ts';
import { type Path, type Source, WorkflowError } from './source.ts';

const LIMIT_MAX_MS = 60 * 86_400_000;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

export class Field {
  readonly value: unknown;
  readonly path: Path;
  readonly #source: Source;

  constructor(source: Source, value: unknown, path: Path = []) {
    this.#source = source;
    this.value = value;
    this.path = path;
  }

  /** `map.timeout_config.agent_timeout_secs`; the limits of the map without its beginning. */
  get name(): string {
    return this.path.join('.');
  }

  get isMissing(): boolean {
    return this.value === undefined || this.value === null;
  }

  wrong(message: string): never {
    throw new WorkflowError(`Invalid workflow: ${message}`, this.#source.place(this.path));
  }

  /** Of what bounds time. */
  wrongLimit(message: string): never {
    const text = `Invalid timeout configuration: ${message}`;
    throw new WorkflowError(text, this.#source.place(this.path));
  }

  get place(): string {
    return this.#source.place(this.path);
  }

  member(key: string | number): Field {
    const value = (this.value as Record<string | number, unknown> | undefined)?.[key];
    return new Field(this.#source, value, [...this.path, key]);
  }

  /** An object with no other keys than these. */
  record(keys: readonly string[], wrong: 'wrong' | 'wrongLimit' = 'wrong'): this {
    const { value } = this;
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      this[wrong](`${this.name || 'the workflow'} must have keys and values`);
    for (const key of Object.keys(value as object)) {
      if (keys.includes(key)) continue;
      const likely = findLikelyOf(key, keys);
      const hint = likely === undefined ? '' : `; did you mean "${likely}"?`;
      this.member(key)[wrong](`unknown key "${key}"${this.name && ` in ${this.name}`}${hint}`);
    }
    return this;
  }

  entries(): readonly Field[] {
    return Object.keys((this.value ?? {}) as object).map((key) => this.member(key));
  }

  text(): string {
    if (typeof this.value === 'string' && this.value !== '') return this.value;
    this.wrong(`${this.name} must be a text`);
  }

  flag(fallback: boolean): boolean {
    if (this.isMissing) return fallback;
    if (typeof this.value === 'boolean') return this.value;
    this.wrong(`${this.name} must be true or false`);
  }

  choice<T extends string>(choices: readonly T[], fallback: T): T {
    if (this.isMissing) return fallback;
    if (choices.includes(this.value as T)) return this.value as T;
    this.wrongLimit(`${this.name} must be one of ${choices.join(', ')}`);
  }

  count(fallback: number, min = 1): number {
    if (this.isMissing) return fallback;
    const { value } = this;
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= min) return value;
    this.wrong(`${this.name} must be a whole number of at least ${min}`);
  }

  number(min: number, max: number): number {
    const { value } = this;
    if (typeof value === 'number' && value >= min && value <= max) return value;
    this.wrongLimit(`${this.name} must be a number from ${min} to ${max}`);
  }

  /** Milliseconds, of a number of seconds; null where there is none. */
  limit({ mayBeZero = false } = {}): number | null {
    if (this.isMissing) return null;
    const { value } = this;
    const least = mayBeZero ? 'at least 0' : 'greater than 0';
    if (
      typeof value !== 'number' ||
      Number.isNaN(value) ||
      value < 0 ||
      (value === 0 && !mayBeZero)
    )
      this.wrongLimit(`${this.name} must be ${least}`);
    const ms = Math.round(value * 1_000);
    if (ms > LIMIT_MAX_MS) this.wrongLimit(`${this.name} must be at most 60 days`);
    if (Math.abs(ms / 1_000 - value) > Number.EPSILON * value)
      this.wrongLimit(`${this.name} must be a number with at most 3 decimals`);
    return ms;
  }

  /** True of a text such as `300%`. */
  get isShare(): boolean {
    return typeof this.value === 'string' && this.value.includes('%');
  }

  /** Percent, of a text such as `300%`; null where there is none. */
  share(min: number, max: number): number | null {
    if (!this.isShare) return null;
    const percent = Number(/^(\d+(?:\.\d{1,3})?)%$/.exec(this.value as string)?.[1] ?? Number.NaN);
    if (percent >= min && percent <= max) return percent;
    this.wrongLimit(`${this.name} must be from ${min}% to ${max}%, such as 300%`);
  }

  list(): readonly Field[] {
    if (!Array.isArray(this.value)) this.wrong(`${this.name} must be a list`);
    return this.value.map((_, index) => this.member(index));
  }

  texts(): readonly string[] {
    return this.list().map((each) => each.text());
  }

  /** Variables of an environment. */
  variables(): Readonly<Record<string, string>> {
    if (this.isMissing) return {};
    const { value } = this;
    if (typeof value !== 'object' || Array.isArray(value))
      this.wrong(`${this.name} must have names and values`);
    return Object.fromEntries(
      this.entries().map((each) => {
        const key = String(each.path.at(-1));
        if (!NAME.test(key) || key.startsWith('ESCAPEMENT_'))
          each.wrong(`${each.name} is no name that a variable can be given`);
        if (!['string', 'number', 'boolean'].includes(typeof each.value))
          each.wrong(`${each.name} must be a text`);
        return [key, String(each.value)];
      }),
    );
  }

  /** Amounts by name. */
  amounts(): Readonly<Record<string, number>> {
    if (this.isMissing) return {};
    return Object.fromEntries(
      this.entries().map((each) => [String(each.path.at(-1)), each.number(0, Number.MAX_VALUE)]),
    );
  }
}
