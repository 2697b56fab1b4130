/**
 * Shell text with placeholders: each becomes a reference to a variable that fits the quotes around it, so that a
 * value never enters the text and is always one literal argument.
 *
 *   echo ${item}     →  echo "${ESCAPEMENT_VAR_0}"
 *   echo "${item}"   →  echo "${ESCAPEMENT_VAR_0}"
 *   echo '${item}'   →  echo ''"${ESCAPEMENT_VAR_0}"''
 *
 * Those are the three places where a shell does not look at a value again. Everywhere else a placeholder is
 * refused: inside a command substitution, arithmetic, another `${ }`, a here-document, and after anything that
 * different shells read differently. The scan need not understand a shell: where it is in doubt, it refuses.
 */

import { placeholderAt, type Scope } from './placeholders.ts';

export interface ShellText {
  readonly text: string;
  /** The placeholder of each `ESCAPEMENT_VAR_<n>`. */
  readonly placeholders: readonly string[];
}

export const VARIABLE_PREFIX = 'ESCAPEMENT_VAR_';

type Quote = 'none' | 'single' | 'double';

/** Beginnings after which nothing is certain, and what they are called; the longest come first. */
const DOUBTFUL: ReadonlyArray<readonly [text: string, name: string]> = [
  ['$((', 'arithmetic'],
  ['$(', 'a command substitution'],
  ['$[', 'arithmetic'],
  ['${', 'another ${ }'],
  ['`', 'backticks'],
];
const DOUBTFUL_UNQUOTED: ReadonlyArray<readonly [text: string, name: string]> = [
  ...DOUBTFUL,
  ["$'", "a text in $' '"],
  ['((', 'arithmetic'],
  ['[[', 'a test in [[ ]]'],
  ['<<', 'a here-document'],
];

/** @throws {Error} naming the placeholder that would be parsed by a shell again */
export function replaceInShell(text: string, scope: Scope): ShellText {
  const placeholders: string[] = [];
  let out = '';
  let quote: Quote = 'none';
  for (let at = 0; at < text.length; ) {
    const placeholder = placeholderAt(text, at, scope);
    if (placeholder !== undefined) {
      out += reference(quote, placeholders.length);
      placeholders.push(placeholder);
      at += placeholder.length;
      continue;
    }
    const doubt = quote === 'single' ? undefined : doubtAt(text, at, quote);
    const length = doubt === undefined ? lengthAt(text, at, quote) : nestedLength(text, at, doubt);
    const part = text.slice(at, at + length);
    if (doubt !== undefined) refuseIn(part, doubt, scope);
    else quote = quoteAfter(part, quote);
    out += part;
    at += length;
  }
  const [first] = placeholders;
  if (quote !== 'none' && first !== undefined)
    throw new Error(`${first} stands in a text whose quotes do not close`);
  return { text: out, placeholders };
}

function reference(quote: Quote, index: number): string {
  const variable = `\${${VARIABLE_PREFIX}${index}}`;
  if (quote === 'double') return variable;
  return quote === 'single' ? `'"${variable}"'` : `"${variable}"`;
}

/** Characters that belong together: an escaped one with its backslash, a comment to its end. */
function lengthAt(text: string, at: number, quote: Quote): number {
  if (quote === 'single') return 1;
  if (text[at] === '\\') return 2;
  if (quote === 'none' && text[at] === '#' && /[\s;&|()<>]/.test(text[at - 1] ?? '\n')) {
    const end = text.indexOf('\n', at);
    return (end < 0 ? text.length : end) - at;
  }
  return 1;
}

function quoteAfter(part: string, quote: Quote): Quote {
  if (part === "'" && quote !== 'double') return quote === 'single' ? 'none' : 'single';
  if (part === '"' && quote !== 'single') return quote === 'double' ? 'none' : 'double';
  return quote;
}

function doubtAt(text: string, at: number, quote: Quote): string | undefined {
  const beginnings = quote === 'none' ? DOUBTFUL_UNQUOTED : DOUBTFUL;
  return beginnings.find(([beginning]) => text.startsWith(beginning, at))?.[1];
}

/** Text without brackets, escapes, comments, and quotes but simple ones. */
const SIMPLE = String.raw`(?:[^()\`\\'"#<]|'[^']*'|"[^"\`\\$]*(?:\$[A-Za-z_][^"\`\\$]*)*")*`;
const SIMPLE_SUBSTITUTION = new RegExp(String.raw`^\$\((?!\()${SIMPLE}\)`);
const SIMPLE_ARITHMETIC = /^\$\(\([^()`\\'"#<]*\)\)/;
const SIMPLE_EXPANSION = /^\$\{[^{}`\\'"$]*\}/;
const SIMPLE_BACKTICKS = /^`[^`\\'"$#]*`/;

/** Length of what begins here, where its end is beyond doubt; otherwise it is the whole rest. */
function nestedLength(text: string, at: number, doubt: string): number {
  const rest = text.slice(at);
  const simple =
    SIMPLE_SUBSTITUTION.exec(rest) ??
    SIMPLE_ARITHMETIC.exec(rest) ??
    SIMPLE_EXPANSION.exec(rest) ??
    SIMPLE_BACKTICKS.exec(rest);
  // The pattern of a case ends in a bracket that closes nothing.
  if (simple === null || doubt === 'a here-document' || /\bcase\b/.test(simple[0]))
    return rest.length;
  return simple[0].length;
}

function refuseIn(part: string, doubt: string, scope: Scope): void {
  for (let at = 0; at < part.length; at++) {
    const placeholder = placeholderAt(part, at, scope);
    if (placeholder === undefined) continue;
    throw new Error(
      `${placeholder} stands inside or after ${doubt}, where a shell would parse its value again; give it to the step by "env", or read $ESCAPEMENT_ITEM_FILE`,
    );
  }
}
