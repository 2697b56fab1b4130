/**
 * Text that people wrote, in YAML or JSON, as a tree of values that know where they stand in it.
 *
 * Guarantees: no value of a file becomes anything but a string, a number, true, false, null, a list
 * or a map with keys of text; a key that stands twice, or that objects know by themselves, is an
 * issue, and so are tags. Nesting and repetition by aliases are bounded, nesting before the text
 * is parsed: the parser would go down with it. What it costs grows with the text, and no further
 * than to the last value or issue that is allowed. JSON is YAML.
 */

import {
  type Alias,
  Composer,
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  Lexer,
  Parser,
  visit,
} from 'yaml';
import type { IssueSink } from './issues.ts';
import type { SourceEntry, SourceValue } from './value.ts';

/** Limits of a text: what is above is refused before it costs anything. */
export interface SourceLimits {
  /** Length of the whole text, in characters. */
  readonly charactersMax: number;
  /** Lists and maps in lists and maps. */
  readonly depthMax: number;
  /** Values, with what aliases repeat. */
  readonly valuesMax: number;
}

export const SOURCE_LIMITS: SourceLimits = {
  charactersMax: 1_048_576,
  depthMax: 32,
  valuesMax: 200_000,
};

/** Issues found in a text. */
interface TextIssues extends IssueSink<number> {
  readonly any: boolean;
  throwIfAny(): void;
}

/** Far more than is allowed, for brackets may stand in comments; far less than the parser survives. */
const OPEN_MAX = 500;

/** Keys that a plain object would take for something else. */
const RESERVED_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/** Undefined, with an issue, when the text is no such tree. */
export function readSource(
  text: string,
  issues: TextIssues,
  limits: SourceLimits = SOURCE_LIMITS,
): SourceValue | undefined {
  if (text.length > limits.charactersMax) {
    issues.add(
      0,
      '',
      `must have at most ${limits.charactersMax.toLocaleString('en-GB')} characters`,
    );
    return undefined;
  }
  const nul = text.indexOf('\0');
  if (nul !== -1) {
    issues.add(nul, '', 'there is a NUL byte in the text');
    return undefined;
  }
  const tooDeep = findTooDeep(text);
  if (tooDeep !== undefined) {
    issues.add(tooDeep, '', `must not be nested more than ${limits.depthMax} deep`);
    return undefined;
  }
  const document = readDocument(text, issues, limits);
  if (document === undefined || issues.any) return undefined;
  const meant = aliasesOf(document);
  const tree = new Tree(issues, limits, (alias) => meant.get(alias));
  return tree.value(document.contents, '', 0);
}

/** The first document; issues are told as the parser finds them, so that too many end it. */
function readDocument(
  text: string,
  issues: TextIssues,
  limits: SourceLimits,
): Document | undefined {
  const composer = new Composer({
    // Quadratic where there are many keys; the tree is looked at here anyway.
    uniqueKeys: false,
    schema: 'core',
    merge: false,
  });
  const { errors, warnings } = composer.streamInfo();
  for (const list of [errors, warnings])
    list.push = ({ pos, message }) => {
      issues.add(pos[0], '', sentence(message));
      return 0;
    };
  let first: Document | undefined;
  for (const document of composer.compose(tokensOf(text, issues, limits), true, text.length)) {
    if (first !== undefined) {
      issues.add(document.range[0], '', 'Source contains multiple documents');
      break;
    }
    first = document;
  }
  return first;
}

/** No further than to where there are too many for the values that may be in them. */
function* tokensOf(text: string, issues: TextIssues, { valuesMax }: SourceLimits) {
  const parser = new Parser();
  let begun = 0;
  let offset = 0;
  for (const lexeme of new Lexer().lex(text)) {
    if (VALUE_BEGINS.has(lexeme[0] as string)) begun += 1;
    if (begun > BEGINNINGS_PER_VALUE * valuesMax) {
      issues.add(offset, '', tooMany(valuesMax));
      issues.throwIfAny();
    }
    yield* parser.next(lexeme);
    if (lexeme > LEXER_MARKS_END) offset += lexeme.length;
  }
  yield* parser.end();
}

/** The lexer's own marks, which stand for no text: the last is that of a plain scalar. */
const LEXER_MARKS_END = '\x1f';
/** What a value begins with, or its key, or its place in a list. */
const VALUE_BEGINS: ReadonlySet<string> = new Set([...'[{"\'*-?:', LEXER_MARKS_END]);
/** A value in a map in a list: its own, that of its key, and their marks. */
const BEGINNINGS_PER_VALUE = 4;

/** What each alias stands for: the last anchor of its name before it. One walk for all of them. */
function aliasesOf(document: Document): ReadonlyMap<Alias, unknown> {
  const anchors = new Map<string, unknown>();
  const meant = new Map<Alias, unknown>();
  visit(document, (_key, node) => {
    if (isAlias(node)) meant.set(node, anchors.get(node.source));
    else if (isNode(node) && 'anchor' in node && typeof node.anchor === 'string')
      anchors.set(node.anchor, node);
  });
  return meant;
}

class Tree {
  readonly #issues: TextIssues;
  readonly #limits: SourceLimits;
  readonly #resolve: (alias: Alias) => unknown;
  #values = 0;

  constructor(issues: TextIssues, limits: SourceLimits, resolve: (alias: Alias) => unknown) {
    this.#issues = issues;
    this.#limits = limits;
    this.#resolve = resolve;
  }

  /** `node` is one of the parser's; what an alias stands for is read again where the alias is. */
  value(node: unknown, path: string, depth: number, at = offsetOf(node)): SourceValue {
    const nothing: SourceValue = { kind: 'scalar', scalar: null, at };
    this.#values += 1;
    if (this.#values > this.#limits.valuesMax) {
      if (this.#values === this.#limits.valuesMax + 1)
        this.#wrong(at, path, tooMany(this.#limits.valuesMax));
      return nothing;
    }
    if (depth > this.#limits.depthMax) {
      this.#wrong(at, path, `must not be nested more than ${this.#limits.depthMax} deep`);
      return nothing;
    }
    if (isAlias(node)) return this.value(this.#resolve(node), path, depth + 1, at);
    if (isSeq(node)) {
      const items = node.items.map((item, index) =>
        this.value(item, `${path}[${index}]`, depth + 1),
      );
      return { kind: 'list', items, at };
    }
    if (isMap(node)) return { kind: 'map', entries: this.#entries(node.items, path, depth), at };
    if (!isScalar(node)) return nothing;
    const { value: scalar } = node;
    if (typeof scalar === 'number' || typeof scalar === 'string' || typeof scalar === 'boolean')
      return { kind: 'scalar', scalar, at };
    return nothing;
  }

  #entries(
    pairs: ReadonlyArray<{ readonly key: unknown; readonly value: unknown }>,
    path: string,
    depth: number,
  ): ReadonlyMap<string, SourceEntry> {
    const entries = new Map<string, SourceEntry>();
    for (const { key, value } of pairs) {
      const keyAt = offsetOf(key);
      const name = isScalar(key) && key.value !== null ? String(key.value) : undefined;
      if (name === undefined) this.#wrong(keyAt, path, 'a key must be a word');
      else if (RESERVED_KEYS.has(name)) this.#wrong(keyAt, path, `"${name}" is no name here`);
      else if (entries.has(name)) this.#wrong(keyAt, path, `"${name}" stands here twice`);
      else {
        const inside = path === '' ? name : `${path}.${name}`;
        const offset = value === null ? keyAt : offsetOf(value);
        entries.set(name, { keyAt, value: this.value(value, inside, depth + 1, offset) });
      }
    }
    return entries;
  }

  #wrong(offset: number, path: string, what: string): void {
    this.#issues.add(offset, path, what);
  }
}

function tooMany(valuesMax: number): string {
  return `must have at most ${valuesMax.toLocaleString('en-GB')} values`;
}

function offsetOf(node: unknown): number {
  const { range } = (node ?? {}) as { range?: readonly number[] | null };
  return range?.[0] ?? 0;
}

/**
 * Where brackets, dashes or indentation go deeper than that, whatever they are part of: a text that
 * has that number of them open at once is not worth a closer look.
 */
function findTooDeep(text: string): number | undefined {
  let brackets = 0;
  let offset = 0;
  const indents: number[] = [];
  for (const line of text.split('\n')) {
    const body = line.trimStart();
    if (body !== '') {
      const indent = line.length - body.length;
      while ((indents.at(-1) ?? -1) >= indent) indents.pop();
      indents.push(indent);
    }
    const marks = /^(?:[-?:] +)*/.exec(body)?.[0].match(/[-?:]/g)?.length ?? 0;
    for (const character of line) {
      if (character === '[' || character === '{') brackets += 1;
      if (character === ']' || character === '}') brackets = Math.max(0, brackets - 1);
      if (brackets > OPEN_MAX) return offset;
    }
    if (indents.length > OPEN_MAX || marks > OPEN_MAX) return offset;
    offset += line.length + 1;
  }
  return undefined;
}

/** The parser's words, without the position that it adds. */
function sentence(message: string): string {
  return (message.split('\n', 1)[0] as string).replace(/ at line \d+, column \d+:?$/, '');
}
