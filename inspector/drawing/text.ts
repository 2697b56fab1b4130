/**
 * Widths of text, so that boxes fit what stands in them.
 *
 * A page measures with its own fonts; a terminal has none, and takes the widths of a wide sans serif, so that
 * a drawing has room for its labels whatever font shows it.
 */

export type Font = 'title' | 'label';
export type Measure = (text: string, font: Font) => number;

export const FONT_SIZE: Readonly<Record<Font, number>> = { title: 13, label: 11 };
export const LINE_HEIGHT: Readonly<Record<Font, number>> = { title: 18, label: 16 };

/** Widths in thousandths of the size, of the characters from the blank to the tilde. */
const WIDTHS =
  '318401460838636950780275390390500838318361318337636636636636636636636636636636337337838838838531' +
  '1000684686698770632575775752295295656557863748787603787695635611732684989685611685390337390838500' +
  '500613635550635615352635634278278579278974634612635635411521392634592818592592525636337636838';
const OTHER = 700;
const BOLD = 1.09;

const widths = widthsOf(WIDTHS);

/** Width in a wide sans serif. */
export const measureWide: Measure = (text, font) => {
  let sum = 0;
  for (const character of text) sum += widths.get(character) ?? OTHER;
  return (sum / 1000) * FONT_SIZE[font] * (font === 'title' ? BOLD : 1);
};

/** The text, cut so that it is not wider than `max`. */
export function fitted(text: string, font: Font, max: number, measure: Measure): string {
  if (measure(text, font) <= max) return text;
  const characters = [...text];
  let low = 0;
  let high = characters.length;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const part = `${characters.slice(0, middle).join('')}…`;
    if (measure(part, font) <= max) low = middle;
    else high = middle - 1;
  }
  return `${characters.slice(0, low).join('')}…`;
}

/** Text in one line without what would turn or hide its neighbours: controls, and marks of direction. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, '\u{FFFD}');
}

/** `@` is the only one of four digits. */
function widthsOf(digits: string): Map<string, number> {
  const found = new Map<string, number>();
  let at = 0;
  for (let code = 32; code < 127; code += 1) {
    const size = code === 64 ? 4 : 3;
    found.set(String.fromCharCode(code), Number(digits.slice(at, at + size)));
    at += size;
  }
  return found;
}
