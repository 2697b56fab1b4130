/**
 * Edits of a workflow's text: limits by their path, with everything else as it stands there, comments and order
 * included.
 *
 * A number is replaced in its place, a new key goes before the first one of its map. Where the text is written in
 * another way the document is printed again, which keeps comments and order too. Either way the result is read back
 * and must say what was wanted.
 */

import { isDeepStrictEqual } from 'node:util';
import { type Document, isMap, isScalar, parseDocument, type YAMLMap } from 'yaml';

export interface Edit {
  readonly path: readonly string[];
  readonly value: number;
}

/** The text with these limits. The text has to be a workflow that was read without errors. */
export function edited(text: string, edits: readonly Edit[]): string {
  return edits.reduce(editedOnce, text);
}

function editedOnce(text: string, edit: Edit): string {
  const document = parseDocument(text);
  const wanted = parseDocument(text);
  wanted.setIn(edit.path, edit.value);
  const inPlace = replaced(text, document, edit) ?? inserted(text, document, edit);
  if (inPlace !== undefined && isDeepStrictEqual(parseDocument(inPlace).toJS(), wanted.toJS()))
    return inPlace;
  return wanted.toString({ lineWidth: 0 });
}

function replaced(text: string, document: Document, { path, value }: Edit): string | undefined {
  const node = document.getIn(path, true);
  if (!isScalar(node) || node.value === null || node.range == null) return undefined;
  const [begin, end] = node.range;
  return `${text.slice(0, begin)}${value}${text.slice(end)}`;
}

/** Puts a key, with the maps around it that are missing, before the first key of the nearest map. */
function inserted(text: string, document: Document, { path, value }: Edit): string | undefined {
  for (let depth = path.length - 1; depth > 0; depth--) {
    const map = document.getIn(path.slice(0, depth), true);
    if (map === undefined) continue;
    if (!isMap(map)) return undefined;
    const first = firstKeyOf(map);
    if (first === undefined) return undefined;
    const missing = path.slice(depth);
    const isJson = text[first] === '"';
    const indent = first - (text.lastIndexOf('\n', first - 1) + 1);
    const line =
      map.flow === true ? `${flowOf(missing, value, isJson)}, ` : blockOf(missing, value, indent);
    return `${text.slice(0, first)}${line}${text.slice(first)}`;
  }
  return undefined;
}

function firstKeyOf({ items }: YAMLMap): number | undefined {
  const key = items[0]?.key;
  return isScalar(key) ? key.range?.[0] : undefined;
}

function flowOf([key = '', ...rest]: readonly string[], value: number, isJson: boolean): string {
  const named = isJson ? JSON.stringify(key) : key;
  return `${named}: ${rest.length === 0 ? value : `{${flowOf(rest, value, isJson)}}`}`;
}

function blockOf(keys: readonly string[], value: number, indent: number): string {
  const lines = keys.map((key, depth) => {
    const own = depth === keys.length - 1 ? ` ${value}` : '';
    return `${depth === 0 ? '' : ' '.repeat(indent + 2 * depth)}${key}:${own}`;
  });
  return `${lines.join('\n')}\n${' '.repeat(indent)}`;
}
