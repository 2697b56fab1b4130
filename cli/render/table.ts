/**
 * Rows in columns, as wide as what is in them.
 *
 * Guarantees: whatever a row says is printable, and a colour does not move a column. A row is one
 * line: how long it may be is up to the terminal.
 */

import type { styleText } from 'node:util';
import { type Output, printable } from './output.ts';

type Format = Parameters<typeof styleText>[0];

export interface Column<TRow> {
  readonly title: string;
  /** May come from data. */
  readonly text: (row: TRow) => string;
  readonly format?: (row: TRow) => Format | undefined;
  /** Default: the left one. */
  readonly side?: 'right';
}

const GAP = '  ';

/** Columns in which no row says anything are left out. */
export function printTable<TRow>(
  columns: ReadonlyArray<Column<TRow>>,
  rows: readonly TRow[],
  output: Output,
  indent = '',
): void {
  const filled = columns
    .map((column) => ({ ...column, cells: rows.map((row) => printable(column.text(row))) }))
    .filter(({ cells }) => cells.some((cell) => cell !== ''))
    .map((column, index, { length }) => ({
      ...column,
      // Nothing comes behind the last one.
      width:
        index === length - 1 && column.side === undefined
          ? 0
          : widest([column.title, ...column.cells]),
    }));
  const line = (cellOf: (column: (typeof filled)[number]) => string): void => {
    const cells = filled.map((column) => cellOf(column));
    output.line(`${indent}${cells.join(GAP)}`.trimEnd());
  };
  line((column) => output.paint('dim', padded(column.title.toUpperCase(), column)));
  for (const [index, row] of rows.entries())
    line((column) => {
      const cell = padded(column.cells[index] as string, column);
      const format = column.format?.(row);
      return format === undefined ? cell : output.paint(format, cell);
    });
}

function padded(
  text: string,
  { width, side }: { readonly width: number; readonly side?: 'right' },
): string {
  const room = ' '.repeat(Math.max(0, width - lengthOf(text)));
  return side === 'right' ? room + text : text + room;
}

function widest(texts: readonly string[]): number {
  return texts.reduce((width, text) => Math.max(width, lengthOf(text)), 0);
}

/** In characters as terminals count most of them. */
function lengthOf(text: string): number {
  return [...text].length;
}
