/**
 * Shadow results: deadlines that would have ended something if they had been enforced, and what came of it. Pure.
 *
 * Only the jobs system and map-reduce have a shadow mode; their actors keep what it saw in their contexts.
 */

import type { ShadowLine } from './protocol.ts';

/** Kinds whose contexts may tell of shadow timeouts. */
export const SHADOW_KINDS: readonly string[] = ['job', 'gate-job', 'map-agent'];

export interface ShadowedActor {
  readonly address: string;
  readonly kind: string;
  /** Undefined of one that lives. */
  readonly state: string | undefined;
  readonly context: unknown;
}

interface Shadow {
  readonly reason: string;
  readonly at: number;
}

/** One line for each kind and reason, the most frequent first. */
export function shadowLines(actors: Iterable<ShadowedActor>, since: number): ShadowLine[] {
  const lines = new Map<string, { line: ShadowLine; at: number }>();
  for (const { address, kind, state, context } of actors)
    for (const { reason, at } of shadowsIn(context)) {
      if (at < since) continue;
      const key = `${kind} ${reason}`;
      const known = lines.get(key);
      const isNewest = known === undefined || at > known.at;
      const { count = 0, completed = 0, living = 0 } = known?.line ?? {};
      lines.set(key, {
        at: Math.max(at, known?.at ?? 0),
        line: {
          kind,
          reason,
          count: count + 1,
          completed: completed + (state !== undefined && isGood(state) ? 1 : 0),
          living: living + (state === undefined ? 1 : 0),
          last: isNewest ? address : known.line.last,
        },
      });
    }
  return [...lines.values()].map(({ line }) => line).sort((one, other) => other.count - one.count);
}

const isGood = (state: string): boolean => /completed|done|succeeded/i.test(state);

function shadowsIn(context: unknown): readonly Shadow[] {
  const { shadows, shadowed, shadowTimeouts } = (context ?? {}) as Readonly<
    Record<string, unknown>
  >;
  return [...listOf(shadows), ...listOf(shadowed), ...listOf(shadowTimeouts)].flatMap((each) => {
    const { reason, kind, at, decidedAt } = (each ?? {}) as Readonly<Record<string, unknown>>;
    const word = reason ?? kind;
    const moment = at ?? decidedAt;
    return typeof word === 'string' && typeof moment === 'number'
      ? [{ reason: word, at: moment }]
      : [];
  });
}

const listOf = (value: unknown): readonly unknown[] =>
  value === undefined || value === null ? [] : Array.isArray(value) ? value : [value];
