/**
 * A value of a scenario file on its way to what it means: read by the kind it should be.
 *
 * Guarantees: whatever is read is of that kind and in its range, or undefined with one mistake that
 * names the place, the path and what it should be. One look at a file finds ten mistakes of it;
 * only the eleventh is thrown.
 */

import { ID_PATTERN } from '../../../machines/jobs/addresses.ts';
import { excerpt } from '../../../runtime/base/errors.ts';
import { findLikelyOf } from '../../../runtime/base/suggestion.ts';
import { parseDuration } from '../../duration.ts';
import type { Mistakes } from './mistakes.ts';
import type { SourceValue } from './source.ts';

/** What a map may have; `false` where it may be left out. */
export type Keys = Readonly<Record<string, boolean>>;

export interface Range {
  readonly min: number;
  readonly max: number;
}

const MOMENTS: Range = { min: 0, max: Number.MAX_SAFE_INTEGER };

export class Field {
  readonly path: string;
  readonly source: SourceValue;
  readonly #mistakes: Mistakes;
  readonly #keyOffset: number;

  constructor(source: SourceValue, path: string, mistakes: Mistakes, keyOffset = source.offset) {
    this.source = source;
    this.path = path;
    this.#mistakes = mistakes;
    this.#keyOffset = keyOffset;
  }

  /** `what` follows the path: `must be …`. */
  wrong(what: string): undefined {
    this.#mistakes.add(this.source.offset, this.path, what);
    return undefined;
  }

  get isNull(): boolean {
    return this.source.kind === 'scalar' && this.source.scalar === null;
  }

  get isList(): boolean {
    return this.source.kind === 'list';
  }

  get isMap(): boolean {
    return this.source.kind === 'map';
  }

  /** A map with these keys and no others. */
  record<TKeys extends Keys>(
    keys: TKeys,
  ): { readonly [name in keyof TKeys]: Field | undefined } | undefined {
    const entries = this.#entries();
    if (entries === undefined) return undefined;
    const names = Object.keys(keys);
    const found: Record<string, Field | undefined> = {};
    for (const name of names) found[name] = undefined;
    for (const [name, field] of entries) {
      if (Object.hasOwn(keys, name)) found[name] = field;
      else field.#unknown(name, names);
    }
    for (const name of names)
      if (keys[name] === true && found[name] === undefined) this.wrong(`must have "${name}"`);
    return found as { readonly [name in keyof TKeys]: Field | undefined };
  }

  /** A map with keys of one's own choice, in the order of the file. */
  entries(): ReadonlyArray<readonly [name: string, field: Field]> {
    return this.#entries() ?? [];
  }

  items(): readonly Field[] {
    if (this.source.kind !== 'list') {
      this.#not('a list');
      return [];
    }
    return this.source.items.map(
      (item, index) => new Field(item, `${this.path}[${index}]`, this.#mistakes),
    );
  }

  /** One of these, such as the name of a node. `what` they are: `a node`. */
  name(names: readonly string[], what: string): string | undefined {
    const { source } = this;
    if (source.kind === 'scalar' && source.scalar !== null) {
      const text = String(source.scalar);
      if (names.includes(text)) return text;
      return this.wrong(`must be ${what}, and ${excerpt(text)} is none${this.#hint(text, names)}`);
    }
    return this.#not(what);
  }

  /** The same for the name under which it stands. */
  isNamed(name: string, names: readonly string[], what: string): boolean {
    if (names.includes(name)) return true;
    const wrong = `must name ${what}, and ${excerpt(name)} is none${this.#hint(name, names)}`;
    this.#mistakes.add(this.#keyOffset, this.path, wrong);
    return false;
  }

  /** One of a few words, all of which are told. */
  word<TWord extends string>(words: readonly TWord[]): TWord | undefined {
    const { source } = this;
    const word = words.find((one) => source.kind === 'scalar' && source.scalar === one);
    return word ?? this.#not(`one of ${words.join(', ')}`);
  }

  text(pattern: RegExp, what: string): string | undefined {
    const { source } = this;
    // A name that is all digits is a number to YAML.
    const text =
      source.kind === 'scalar' && ['string', 'number'].includes(typeof source.scalar)
        ? String(source.scalar)
        : undefined;
    return text !== undefined && pattern.test(text) ? text : this.#not(what);
  }

  /** Reads the id of a job or a workflow. */
  id(): string | undefined {
    return this.text(ID_PATTERN, '1 to 128 letters, digits or "._:-"');
  }

  flag(): boolean | undefined {
    const { source } = this;
    if (source.kind === 'scalar' && typeof source.scalar === 'boolean') return source.scalar;
    return this.#not('true or false');
  }

  whole({ min, max }: Range): number | undefined {
    const value = this.#number();
    if (Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max)
      return value;
    return this.#not(`a whole number ${between({ min, max })}`);
  }

  number({ min, max }: Range): number | undefined {
    const value = this.#number();
    if (value !== undefined && value >= min && value <= max) return value;
    return this.#not(`a number ${between({ min, max })}`);
  }

  /** Milliseconds. */
  duration(range: Range = MOMENTS): number | undefined {
    const ms = this.#duration();
    if (ms === undefined)
      return this.#not('a duration such as 250ms, 5s, 2m, 1h or 60d, or a number of milliseconds');
    if (ms >= range.min && ms <= range.max) return ms;
    return this.#not(`a duration ${between(range, ' ms')}`);
  }

  /** Milliseconds, below zero too. */
  signedDuration({ max }: { readonly max: number }): number | undefined {
    const { source } = this;
    const { scalar } = source as { scalar?: unknown };
    const isBelow =
      (typeof scalar === 'number' && scalar < 0) ||
      (typeof scalar === 'string' && scalar.startsWith('-'));
    const size = isBelow
      ? { ...source, scalar: typeof scalar === 'number' ? -scalar : String(scalar).slice(1) }
      : source;
    const ms = new Field(size as SourceValue, this.path, this.#mistakes).duration({ min: 0, max });
    return ms === undefined || ms === 0 ? ms : isBelow ? -ms : ms;
  }

  /** A duration where it looks like one, otherwise whatever it is. */
  loose(): unknown {
    const { source } = this;
    const isText = source.kind === 'scalar' && typeof source.scalar === 'string';
    return (isText ? this.#duration() : undefined) ?? this.plain();
  }

  /** As plain data. */
  plain(): unknown {
    return plainOf(this.source);
  }

  /** It is there, but only something else would make sense. */
  #not(what: string): undefined {
    return this.wrong(`must be ${what}, got ${describe(this.source)}`);
  }

  #number(): number | undefined {
    const { source } = this;
    return source.kind === 'scalar' && typeof source.scalar === 'number'
      ? source.scalar
      : undefined;
  }

  #duration(): number | undefined {
    const { source } = this;
    if (source.kind !== 'scalar') return undefined;
    const { scalar } = source;
    if (typeof scalar !== 'number' && typeof scalar !== 'string') return undefined;
    try {
      return parseDuration(scalar);
    } catch {
      // The caller says what it should be.
      return undefined;
    }
  }

  #entries(): ReadonlyArray<readonly [string, Field]> | undefined {
    const { source, path } = this;
    if (source.kind !== 'map') return this.#not('a map');
    return [...source.entries].map(([name, { keyOffset, value }]) => {
      const inside = path === '' ? name : `${path}.${name}`;
      return [name, new Field(value, inside, this.#mistakes, keyOffset)] as const;
    });
  }

  #unknown(name: string, names: readonly string[]): void {
    const what = `there is no such key${this.#hint(name, names)}`;
    this.#mistakes.add(this.#keyOffset, this.path, what);
  }

  #hint(name: string, names: readonly string[]): string {
    const likely = findLikelyOf(name, names);
    if (likely !== undefined) return `; did you mean "${likely}"?`;
    if (names.length === 0) return '';
    return `; there ${names.length === 1 ? 'is' : 'are'} ${listed(names)}`;
  }
}

/** Names that are told before it is enough. */
const LISTED_MAX = 20;

function listed(names: readonly string[]): string {
  const told = names.slice(0, LISTED_MAX).join(', ');
  return names.length > LISTED_MAX ? `${told}, …` : told;
}

function between({ min, max }: Range, unit = ''): string {
  const from = min.toLocaleString('en-GB');
  if (max === Number.MAX_SAFE_INTEGER) return `of at least ${from}${unit}`;
  return `from ${from} to ${max.toLocaleString('en-GB')}${unit}`;
}

function describe(source: SourceValue): string {
  if (source.kind === 'list') return 'a list';
  if (source.kind === 'map') return 'a map';
  const { scalar } = source;
  if (scalar === null) return 'nothing';
  return typeof scalar === 'string' ? excerpt(scalar) : String(scalar);
}

function plainOf(source: SourceValue): unknown {
  switch (source.kind) {
    case 'scalar':
      return source.scalar;
    case 'list':
      return source.items.map(plainOf);
    case 'map':
      return Object.fromEntries(
        [...source.entries].map(([name, { value }]) => [name, plainOf(value)]),
      );
  }
}
