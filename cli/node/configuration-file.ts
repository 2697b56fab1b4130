/**
 * Configuration file: read whole, parsed once, and every value with the place where it stands.
 *
 * Guarantees: a file over the limit is refused before it is read, and what is read is YAML of the
 * plain schema: no tags, every key once, a bounded number of aliases, and no key that could
 * reach a prototype. What is wrong is told by line and column. It knows no settings.
 */

import { readFileSync, statSync } from 'node:fs';
import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  parseDocument,
} from 'yaml';
import { excerpt, messageOf } from '../../runtime/base/errors.ts';
import { CommandFailure, EXIT } from '../exit.ts';
import { ConfigurationError, type Origin } from './origin.ts';

const FILE_BYTES_MAX = 1024 * 1024;
/** Values that one file can make by aliases: enough for people, too few for a bomb. */
const ALIASES_MAX = 100;
const DEPTH_MAX = 32;
/** Marks by which the lexer describes the text, and which are not in it: document, flow error, scalar. */
const MARKS = new Set(['\u0002', '\u0018', '\u001f']);
const FORBIDDEN_KEYS = new Set(['__proto__', 'constructor', 'prototype']);

export interface ConfigurationFile {
  readonly values: Readonly<Record<string, unknown>>;
  /** Origin of each value, by its path. */
  readonly origins: ReadonlyMap<string, Origin>;
}

/** `path` is for reading, `file` is how messages call it. @throws {CommandFailure} */
export function readConfigurationFile(path: string, file: string = path): ConfigurationFile {
  return parseConfiguration(decode(readBounded(path, file), file), file);
}

/** @throws {ConfigurationError} */
function parseConfiguration(text: string, file: string): ConfigurationFile {
  const lines = new LineCounter();
  const at = (offset: number): Origin => {
    const { line, col } = lines.linePos(offset);
    return { from: 'file', file, line: Math.max(1, line), column: Math.max(1, col) };
  };
  const refuse = (path: string, what: string, offset: number): ConfigurationError =>
    new ConfigurationError([{ path, what, origin: at(offset) }]);
  const nul = text.indexOf('\0');
  if (nul !== -1) {
    parseLines(text, lines);
    throw refuse('', 'there is a NUL byte in the file', nul);
  }
  const tooDeep = findTooDeep(text);
  if (tooDeep !== undefined) {
    parseLines(text, lines);
    throw refuse('', 'it is nested too deeply', tooDeep);
  }
  const document = parsed(text, lines);
  const [trouble] = [...document.errors, ...document.warnings];
  if (trouble !== undefined) throw refuse('', sentence(trouble.message), trouble.pos[0]);
  const root = document.contents as Node | null;
  if (root === null) return { values: {}, origins: new Map() };
  if (!isMap(root)) throw refuse('', 'a configuration is a list of "key: value"', offsetOf(root));
  const origins = new Map<string, Origin>();
  place(root, '', 0, { origins, at, refuse });
  try {
    return { values: document.toJS({ maxAliasCount: ALIASES_MAX }), origins };
  } catch (thrown) {
    // The one thing that is only found out while the values are built.
    throw refuse('', `there are too many aliases: ${messageOf(thrown)}`, offsetOf(root));
  }
}

function parsed(text: string, lineCounter: LineCounter) {
  return parseDocument(text, {
    lineCounter,
    schema: 'core',
    version: '1.2',
    merge: false,
    uniqueKeys: true,
    stringKeys: true,
    prettyErrors: false,
    logLevel: 'silent',
  });
}

/** Place at which brackets within brackets are too many: the parser would call itself for each. */
function findTooDeep(text: string): number | undefined {
  let depth = 0;
  let offset = 0;
  for (const lexeme of new Lexer().lex(text)) {
    if (lexeme === '[' || lexeme === '{') depth += 1;
    if (lexeme === ']' || lexeme === '}') depth -= 1;
    if (depth > DEPTH_MAX) return offset;
    if (!MARKS.has(lexeme)) offset += lexeme.length;
  }
  return undefined;
}

interface Placing {
  readonly origins: Map<string, Origin>;
  readonly at: (offset: number) => Origin;
  readonly refuse: (path: string, what: string, offset: number) => ConfigurationError;
}

/** Walks the tree as it is written: an alias is looked at where it is defined. */
function place(node: unknown, path: string, depth: number, placing: Placing): void {
  const { origins, at, refuse } = placing;
  const offset = offsetOf(node);
  if (depth > DEPTH_MAX) throw refuse(path, 'it is nested too deeply', offset);
  if (path !== '' && !origins.has(path)) origins.set(path, at(offset));
  const below = path === '' ? '' : `${path}.`;
  if (isSeq(node)) {
    for (const [index, item] of node.items.entries())
      place(item, `${below}${index}`, depth + 1, placing);
  }
  if (!isMap(node)) return;
  for (const { key, value } of node.items) {
    const name = isScalar(key) ? key.value : undefined;
    if (typeof name !== 'string')
      throw refuse(
        path,
        `a key is a plain word, got ${isAlias(key) ? 'an alias' : 'something else'}`,
        offsetOf(key),
      );
    if (FORBIDDEN_KEYS.has(name))
      throw refuse(path, `a key cannot be ${excerpt(name)}`, offsetOf(key));
    // What is wrong with a value is mostly wrong with its line: the key is where it begins.
    origins.set(`${below}${name}`, at(offsetOf(key)));
    place(value, `${below}${name}`, depth + 1, placing);
  }
}

function offsetOf(node: unknown): number {
  return (node as Node | null | undefined)?.range?.[0] ?? 0;
}

/** For a text that the parser does not get to see. */
function parseLines(text: string, lines: LineCounter): void {
  lines.addNewLine(0);
  for (let next = text.indexOf('\n'); next !== -1; next = text.indexOf('\n', next + 1))
    lines.addNewLine(next + 1);
}

function sentence(message: string): string {
  return message.split('\n', 1)[0] as string;
}

function readBounded(path: string, file: string): Buffer {
  try {
    const stat = statSync(path);
    if (stat.isDirectory()) throw unreadable(file, 'it is a directory');
    if (!stat.isFile()) throw unreadable(file, 'it is not a file');
    if (stat.size > FILE_BYTES_MAX)
      throw unreadable(file, `it has ${stat.size} bytes, at most ${FILE_BYTES_MAX} are read`);
    return readFileSync(path);
  } catch (thrown) {
    if (thrown instanceof CommandFailure) throw thrown;
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === 'EACCES' || code === 'EPERM')
      throw unreadable(file, 'it may not be read by this user', EXIT.noPermission);
    throw unreadable(file, code === 'ENOENT' ? 'there is no such file' : messageOf(thrown));
  }
}

function unreadable(
  file: string,
  reason: string,
  exitCode: typeof EXIT.configuration | typeof EXIT.noPermission = EXIT.configuration,
): CommandFailure {
  return new CommandFailure(exitCode, `${file}: the configuration cannot be read: ${reason}.`);
}

/** Without a byte order mark. */
function decode(bytes: Buffer, file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw unreadable(file, 'it is not UTF-8');
  }
}
