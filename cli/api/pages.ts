/**
 * Pages of a list that a node gives, put together.
 *
 * Guarantees: as many rows as were asked for, or all; a page may have few rows and still a next
 * one. It ends when nobody reads any more, and after a number of rows that no terminal needs.
 */

import { grouped, type Output } from '../render/output.ts';

export interface Page<TRow> {
  readonly rows: readonly TRow[];
  readonly cursor: string | null;
}

export interface PagesOptions {
  readonly limit: number;
  readonly cursor?: string;
  readonly all?: boolean;
}

/** Rows of one request. */
const PAGE_ROWS = 500;
const ROWS_MAX = 100_000;

export async function readPages<TRow>(
  read: (page: {
    readonly limit: number;
    readonly cursor: string | undefined;
  }) => Promise<Page<TRow>>,
  { limit, cursor: from, all = false }: PagesOptions,
  output: Output,
): Promise<Page<TRow>> {
  const rows: TRow[] = [];
  const wanted = all ? ROWS_MAX : limit;
  let cursor: string | null = from ?? null;
  do {
    const page: Page<TRow> = await read({
      limit: Math.min(PAGE_ROWS, wanted - rows.length),
      cursor: cursor ?? undefined,
    });
    rows.push(...page.rows);
    cursor = page.cursor ?? null;
    if (cursor !== null) output.progress(`${grouped(rows.length)} rows so far`);
  } while (cursor !== null && rows.length < wanted && !output.isClosed);
  output.progress(undefined);
  return { rows, cursor };
}
