/**
 * JSON reader: an object, taken apart while it arrives.
 *
 *   value ─{─▶ keyOrEnd ─"…"─▶ colon ─:─▶ value ─…─▶ commaOrEnd ─,─▶ key …
 *
 * Guarantees: what is nested too deep, has too many keys, too long a text or number, or a key that
 * could reach a prototype, is refused before any of it is built; no more than one member of the
 * object, or one entry of a list that is read entry by entry, is held as text. The structure is
 * checked here, words and numbers by `JSON.parse` of each part.
 */

import { JsonText } from './json-text.ts';
import { invalid } from './refusal.ts';

export interface JsonShape {
  readonly depthMax: number;
  readonly keysMax: number;
  /** Keys of all objects together; left out where each counts for itself. */
  readonly keysInAllMax?: number;
  readonly stringBytesMax: number;
  /** Keys whose texts may be longer. */
  readonly longTexts?: Readonly<Record<string, number>>;
  /** Length of one part as text. */
  readonly partLengthMax: number;
}

export interface JsonListener {
  /** A member of the object, whole. */
  member(name: string, value: unknown): void;
  /** True where the list of that name is to be told entry by entry. */
  isList?(name: string): boolean;
  entry?(name: string, value: unknown, index: number): void;
}

type Next = 'value' | 'valueOrEnd' | 'key' | 'keyOrEnd' | 'colon' | 'commaOrEnd' | 'nothing';
type Within = 'structure' | 'text' | 'word';

const QUOTE = 0x22;
/** Longer than any that a double needs. */
const WORD_LENGTH_MAX = 64;
const FORBIDDEN_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);
export class JsonReader {
  readonly #shape: JsonShape;
  readonly #listener: JsonListener;
  #next: Next = 'value';
  #within: Within = 'structure';
  /** Number of keys of each open object; −1 for a list. */
  readonly #open: number[] = [];
  readonly #text = new JsonText((message) => invalid(message, this.#field));
  #wordLength = 0;
  #keysInAll = 0;
  #member = '';
  readonly #members = new Set<string>();
  /** The entry that is read or comes next; −1 outside of a list that is told entry by entry. */
  #index = -1;
  #part: string[] | undefined;
  #partLength = 0;

  constructor(shape: JsonShape, listener: JsonListener) {
    this.#shape = shape;
    this.#listener = listener;
  }

  /** @throws {HttpRefusal} invalid */
  push(text: string): void {
    let from = 0;
    for (let at = 0; at < text.length; at += 1) {
      if (this.#within === 'text') {
        at = this.#text.read(text, at);
        if (at < text.length) this.#textEnds(text, at + 1, from);
        continue;
      }
      const code = text.charCodeAt(at);
      if (this.#within === 'structure') {
        if (this.#begins(code)) from = at;
        this.#structure(code, text, at, from);
      } else if (isWord(code)) this.#word();
      else {
        this.#within = 'structure';
        this.#valueEnds(text, at, from);
        this.#structure(code, text, at, from);
      }
    }
    if (this.#part !== undefined) this.#keep(text, text.length, from);
  }

  /** @throws {HttpRefusal} invalid */
  end(): void {
    if (this.#within !== 'structure' || this.#next !== 'nothing')
      throw invalid('The body must be a whole JSON object.', 'body');
  }

  /** Field at which it is in the body, for people. */
  get #field(): string {
    if (this.#index >= 0) {
      const deeper = this.#open.length > 2 && this.#text.key !== '' ? `.${this.#text.key}` : '';
      return `${this.#member}[${this.#index}]${deeper}`;
    }
    return this.#member === '' ? 'body' : this.#member;
  }

  /** True when a part begins with this character. */
  #begins(code: number): boolean {
    const isValue = this.#next === 'value' || this.#next === 'valueOrEnd';
    if (!isValue || isBlank(code) || code === 0x5d) return false;
    const depth = this.#open.length;
    if (depth === 1 && code === 0x5b && this.#listener.isList?.(this.#member) === true) {
      this.#index = 0;
      return false;
    }
    const isPart = this.#index >= 0 ? depth === 2 : depth === 1;
    if (isPart) {
      this.#part = [];
      this.#partLength = 0;
    }
    return isPart;
  }

  #structure(code: number, text: string, at: number, from: number): void {
    if (isBlank(code)) return;
    const next = this.#next;
    const isValue = next === 'value' || next === 'valueOrEnd';
    if (this.#open.length === 0 && (next === 'nothing' || code !== 0x7b))
      throw invalid('The body must be one JSON object.', 'body');
    if (code === QUOTE && (next === 'key' || next === 'keyOrEnd')) this.#textBegins(true);
    else if (code === QUOTE && isValue) this.#textBegins(false);
    else if (code === 0x3a && next === 'colon') this.#next = 'value';
    else if (code === 0x2c && next === 'commaOrEnd')
      this.#next = (this.#open.at(-1) as number) < 0 ? 'value' : 'key';
    else if (code === 0x7b && isValue) this.#opens(0, 'keyOrEnd');
    else if (code === 0x5b && isValue) this.#opens(-1, 'valueOrEnd');
    else if (code === 0x7d && this.#isObject && (next === 'keyOrEnd' || next === 'commaOrEnd'))
      this.#closes(text, at, from);
    else if (code === 0x5d && !this.#isObject && (next === 'valueOrEnd' || next === 'commaOrEnd'))
      this.#closes(text, at, from);
    else if (isWord(code) && isValue) {
      this.#within = 'word';
      this.#wordLength = 1;
    } else throw invalid('It is not JSON.', this.#field);
  }

  get #isObject(): boolean {
    return (this.#open.at(-1) ?? -1) >= 0;
  }

  #opens(keys: number, next: Next): void {
    const { depthMax } = this.#shape;
    this.#open.push(keys);
    this.#next = next;
    if (this.#open.length > depthMax)
      throw invalid(`It is nested deeper than ${depthMax}.`, this.#field);
  }

  #closes(text: string, at: number, from: number): void {
    this.#open.pop();
    this.#valueEnds(text, at + 1, from);
  }

  #textBegins(isKey: boolean): void {
    const {
      stringBytesMax,
      keysMax,
      keysInAllMax = Number.POSITIVE_INFINITY,
      longTexts,
    } = this.#shape;
    this.#within = 'text';
    const { key } = this.#text;
    const isLong = !isKey && longTexts !== undefined && Object.hasOwn(longTexts, key);
    this.#text.begin(isKey, isLong ? (longTexts[key] as number) : stringBytesMax);
    if (!isKey) return;
    const keys = (this.#open.pop() as number) + 1;
    this.#open.push(keys);
    if (keys > keysMax) throw invalid(`An object has at most ${keysMax} keys.`, this.#field);
    this.#keysInAll += 1;
    if (this.#keysInAll > keysInAllMax)
      throw invalid(`There are at most ${keysInAllMax} keys in all.`, this.#field);
  }

  #textEnds(text: string, at: number, from: number): void {
    this.#within = 'structure';
    if (!this.#text.isKey) {
      this.#valueEnds(text, at, from);
      return;
    }
    this.#next = 'colon';
    if (FORBIDDEN_KEYS.has(this.#text.key)) throw invalid('There is a forbidden key.', this.#field);
    if (this.#open.length > 1) return;
    this.#member = this.#text.key;
    if (this.#members.size === this.#members.add(this.#member).size)
      throw invalid('It is there twice.', this.#member);
  }

  #word(): void {
    this.#wordLength += 1;
    if (this.#wordLength > WORD_LENGTH_MAX)
      throw invalid('A number has too many digits.', this.#field);
  }

  #valueEnds(text: string, end: number, from: number): void {
    const depth = this.#open.length;
    this.#next = depth === 0 ? 'nothing' : 'commaOrEnd';
    if (this.#index >= 0 && depth === 1) this.#index = -1;
    else if (this.#part !== undefined && depth === (this.#index >= 0 ? 2 : 1))
      this.#tell(text, end, from);
  }

  #tell(text: string, end: number, from: number): void {
    this.#keep(text, end, from);
    const value = this.#parsed((this.#part ?? []).join(''));
    this.#part = undefined;
    if (this.#index < 0) this.#listener.member(this.#member, value);
    else {
      this.#listener.entry?.(this.#member, value, this.#index);
      this.#index += 1;
    }
  }

  #parsed(part: string): unknown {
    try {
      return JSON.parse(part);
    } catch {
      throw invalid('It is not JSON.', this.#field);
    }
  }

  #keep(text: string, end: number, from: number): void {
    this.#partLength += end - from;
    if (this.#partLength > this.#shape.partLengthMax)
      throw invalid(`It takes more than ${this.#shape.partLengthMax} characters.`, this.#field);
    this.#part?.push(text.slice(from, end));
  }
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

/** True for the characters that numbers, `true`, `false` and `null` are made of. */
function isWord(code: number): boolean {
  return (
    (code >= 0x30 && code <= 0x39) ||
    (code >= 0x61 && code <= 0x7a) ||
    code === 0x2d ||
    code === 0x2b ||
    code === 0x2e ||
    code === 0x45
  );
}
