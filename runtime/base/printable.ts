/**
 * Printable text from data: a terminal shows it and does nothing else. This is the one function for all text
 * that comes from outside and goes where people read.
 *
 * Other characters become escapes of JSON, so that JSON means the same afterwards.
 */

/** C0 and C1 controls, and what is invisible or turns the direction of text around. */
const UNPRINTABLE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not reach a terminal.
  /[\u0000-\u001f\u007f-\u009f\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

export function printable(text: string): string {
  return text.replace(UNPRINTABLE, escaped);
}

/** Like `printable`, for text of several lines. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
