/**
 * Field of what people wrote, read by the kind it should be: of settings, of a plan, of a scenario.
 *
 * Guarantees: what is read is of that kind and in its range, or undefined with one issue that
 * names the place, the path and what it should be. Unknown keys come with a suggestion.
 */

import { DURATION, durationMs } from '../runtime/base/duration.ts';
import { excerpt } from '../runtime/base/errors.ts';
import { issuesOf, type OptionTable, rangeText } from '../runtime/base/option.ts';
import { closest } from '../runtime/base/suggestion.ts';
import type { IssueSink } from './issues.ts';
import { plainOf, type SourceValue } from './value.ts';

/** What a map may have; `false` where it may be left out. */
export type Keys = Readonly<Record<string, boolean>>;

export interface Range {
  readonly min: number;
  readonly max: number;
}

const MOMENTS: Range = { min: 0, max: Number.MAX_SAFE_INTEGER };

/** Name of a node, a place, a thing that is asked for. */
const ID_PATTERN = /^[A-Za-z0-9._:-]{1,128}$/;

export class Field<TPlace = number> {
  readonly path: string;
  readonly source: SourceValue<TPlace>;
  readonly #issues: IssueSink<TPlace>;
  readonly #keyAt: TPlace;

  constructor(
    source: SourceValue<TPlace>,
    path: string,
    issues: IssueSink<TPlace>,
    keyAt = source.at,
  ) {
    this.source = source;
    this.path = path;
    this.#issues = issues;
    this.#keyAt = keyAt;
  }

  /** `what` follows the path: `must be …`. */
  wrong(what: string): undefined {
    this.#issues.add(this.source.at, this.path, what);
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

  /** A map with these keys and no others. `meant` leads from other names to keys. */
  record<TKeys extends Keys>(
    keys: TKeys,
    meant: Readonly<Record<string, string>> = {},
  ): { readonly [name in keyof TKeys]: Field<TPlace> | undefined } | undefined {
    const entries = this.#entries();
    if (entries === undefined) return undefined;
    const names = Object.keys(keys);
    const found: Record<string, Field<TPlace> | undefined> = {};
    for (const name of names) found[name] = undefined;
    for (const [name, field] of entries) {
      if (Object.hasOwn(keys, name)) found[name] = field;
      else field.#unknown(name, names, meant);
    }
    for (const name of names)
      if (keys[name] === true && found[name] === undefined) this.wrong(`must have "${name}"`);
    return found as { readonly [name in keyof TKeys]: Field<TPlace> | undefined };
  }

  /** A map with keys of one's own choice, in the order of the file. */
  entries(): ReadonlyArray<readonly [name: string, field: Field<TPlace>]> {
    return this.#entries() ?? [];
  }

  /** Options of a table: the good ones. Durations are taken where a name ends in `Ms`. */
  options(table: OptionTable): Record<string, unknown> {
    const entries = this.entries();
    // For each name that is none a likely one is looked for.
    const most = 2 * Object.keys(table).length;
    if (entries.length > most) this.wrong(`must have at most ${most} options`);
    const good: Record<string, unknown> = {};
    for (const [name, field] of entries.slice(0, most)) {
      const value = name.endsWith('Ms') ? field.loose() : field.plain();
      const [issue] = issuesOf({ [name]: value }, table);
      if (issue === undefined) good[name] = value;
      else if (Object.hasOwn(table, name)) field.wrong(issue.what);
      else this.#issues.add(field.#keyAt, field.path, issue.what);
    }
    return good;
  }

  /** A list of what `read` makes of each item; items that it makes nothing of are left out. */
  list<TItem>(read: (item: Field<TPlace>) => TItem | undefined, max: number): TItem[] | undefined {
    if (!this.isList) return this.#not('a list');
    if (this.items().length > max)
      return this.wrong(`must have at most ${max.toLocaleString('en-GB')} items`);
    return this.items().flatMap((item) => read(item) ?? []);
  }

  items(): ReadonlyArray<Field<TPlace>> {
    if (this.source.kind !== 'list') {
      this.#not('a list');
      return [];
    }
    return this.source.items.map(
      (item, index) => new Field(item, `${this.path}[${index}]`, this.#issues),
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
    this.#issues.add(this.#keyAt, this.path, wrong);
    return false;
  }

  /** One of a few words, all of which are told. */
  word<TWord extends string>(words: readonly TWord[]): TWord | undefined {
    const { source } = this;
    const word = words.find((one) => source.kind === 'scalar' && source.scalar === one);
    return word ?? this.#not(`one of ${words.join(', ')}`);
  }

  text(pattern: RegExp, what: string): string | undefined {
    return this.textWhere((text) => pattern.test(text), what);
  }

  textWhere(allows: (text: string) => boolean, what: string): string | undefined {
    const { source } = this;
    // A name that is all digits is a number to YAML.
    const text =
      source.kind === 'scalar' && ['string', 'number'].includes(typeof source.scalar)
        ? String(source.scalar)
        : undefined;
    return text !== undefined && allows(text) ? text : this.#not(what);
  }

  /** Reads an id. */
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
    return this.#not(`a whole number ${rangeText({ min, max })}`);
  }

  number({ min, max }: Range): number | undefined {
    const value = this.#number();
    if (value !== undefined && value >= min && value <= max) return value;
    return this.#not(`a number ${rangeText({ min, max })}`);
  }

  /** Milliseconds. */
  duration(range: Range = MOMENTS): number | undefined {
    const ms = this.#duration();
    if (ms === undefined) return this.#not(`${DURATION}, or a number of milliseconds`);
    if (ms >= range.min && ms <= range.max) return ms;
    return this.#not(`a duration ${rangeText(range, ' ms')}`);
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
    const ms = new Field(size as SourceValue<TPlace>, this.path, this.#issues).duration({
      min: 0,
      max,
    });
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
    return this.source.kind === 'scalar' ? durationMs(this.source.scalar) : undefined;
  }

  #entries(): ReadonlyArray<readonly [string, Field<TPlace>]> | undefined {
    const { source, path } = this;
    if (source.kind !== 'map') return this.#not('a map');
    return [...source.entries].map(([name, { keyAt, value }]) => {
      const inside = path === '' ? name : `${path}.${name}`;
      return [name, new Field(value, inside, this.#issues, keyAt)] as const;
    });
  }

  #unknown(name: string, names: readonly string[], meant: Readonly<Record<string, string>>): void {
    const what = `there is no such key${this.#hint(name, names, meant)}`;
    this.#issues.add(this.#keyAt, this.path, what);
  }

  #hint(
    name: string,
    names: readonly string[],
    meant: Readonly<Record<string, string>> = {},
  ): string {
    const spellings = [...names.map((known) => [known, known] as const), ...Object.entries(meant)];
    const likely = closest(name, spellings);
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

function describe(source: SourceValue<unknown>): string {
  if (source.kind === 'list') return 'a list';
  if (source.kind === 'map') return 'a map';
  const { scalar } = source;
  if (scalar === null) return 'nothing';
  return typeof scalar === 'string' ? excerpt(scalar) : String(scalar);
}
