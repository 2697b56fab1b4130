/**
 * Text from data, such that a terminal shows it and does nothing: the one function for whatever comes
 * from outside and goes where people read.
 *
 * What it writes instead is an escape of JSON, so that JSON means the same afterwards.
 */

/** C0 and C1 controls, and what is invisible or turns the direction of text around. */
const UNPRINTABLE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not reach a terminal.
  /[\u0000-\u001f\u007f-\u009f\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

export function printable(text: string): string {
  return text.replace(UNPRINTABLE, escaped);
}

/** As `printable`, for text of several lines. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
