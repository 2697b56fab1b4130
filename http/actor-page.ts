/**
 * Page of actors for an answer over HTTP.
 *
 * Guarantees: others have their turn while the index is looked through; for one page a bounded number of
 * rows is looked at, so a client that looks for few among many asks again.
 */

import type { ActorQuery, ActorRow } from '../runtime/api.ts';
import type { Service } from './route.ts';

/** Rows that are looked at before others have their turn. */
const ROWS_AT_ONCE = 250;
/** Rows that are looked at for one page. */
const ROWS_MAX = 20_000;

interface ActorPage {
  readonly actors: readonly ActorRow[];
  readonly cursor: string | null;
}

export async function actorPage(
  { program, clock }: Pick<Service, 'program' | 'clock'>,
  query: ActorQuery & { readonly limit: number },
): Promise<ActorPage> {
  const { limit } = query;
  const actors: ActorRow[] = [];
  let after = query.cursor;
  let lookedAt = 0;
  do {
    if (lookedAt > 0) await new Promise<void>((resolve) => clock.defer(resolve));
    const page = program.runtime.query({
      ...query,
      limit: Math.min(limit - actors.length, ROWS_AT_ONCE),
      lookedAtMax: ROWS_AT_ONCE,
      ...(after !== undefined && { cursor: after }),
    });
    actors.push(...page.actors);
    after = page.cursor;
    lookedAt += ROWS_AT_ONCE;
  } while (after !== undefined && actors.length < limit && lookedAt < ROWS_MAX);
  return { actors, cursor: after ?? null };
}
