/**
 * Evidence about one actor, and the others that its end may come from. The same for a live node, a dead
 * directory, a recording and a simulated run: who gathers it says where from.
 */

import type { ActorExit, Deadline, TurnLine } from '../protocol.ts';
import type { FencedMessage } from '../turn-lines.ts';

export interface Evidence {
  readonly address: string;
  readonly kind: string;
  readonly node: string;
  readonly status: 'active' | 'done' | 'stopped';
  readonly state: string;
  readonly turnAt: number;
  readonly stopReason?: string | undefined;
  /** Committed context, with secrets replaced. */
  readonly context?: unknown;
  readonly deadlines: readonly Deadline[];
  readonly exits: readonly ActorExit[];
  /** Turns that are still known, oldest first. */
  readonly turns: readonly TurnLine[];
  /** Messages to it that a fence kept out, as far as somebody listened. */
  readonly fenced?: readonly FencedMessage[];
  /** When the active states were entered, by path. */
  readonly enteredAt?: Readonly<Record<string, number>>;
}

/** Case of one actor: its evidence and that of the actors around it. */
export interface WhyCase {
  readonly at: number;
  readonly subject: Evidence;
  readonly related: ReadonlyMap<string, Evidence>;
  /** How long actors of the subject's kind usually stay in a state, by path. */
  readonly usual: ReadonlyMap<string, number>;
  /** What could not be had. */
  readonly gaps: readonly string[];
}

/** Undefined where there is no such actor; throws where nobody can say. */
export type Fetch = (address: string) => Promise<Evidence | undefined>;

/** Actors around one that are asked. */
const RELATED_MAX = 24;

/**
 * Gathers a case: the actor, the actors that it exchanged messages with last, and of the jobs system those that
 * its time depends on.
 *
 * @returns undefined where there is no such actor
 */
export async function gather(
  address: string,
  fetch: Fetch,
  around: { readonly at: number; readonly usual: WhyCase['usual'] },
): Promise<WhyCase | undefined> {
  const subject = await fetch(address);
  if (subject === undefined) return undefined;
  const related = new Map<string, Evidence>();
  const gaps: string[] = [];
  const asked = new Set([address]);
  const ask = async (addresses: readonly string[]): Promise<void> => {
    const wanted = addresses
      .filter((each) => !asked.has(each))
      .slice(0, RELATED_MAX - related.size);
    for (const each of wanted) asked.add(each);
    await Promise.all(
      wanted.map(async (each) => {
        try {
          const found = await fetch(each);
          if (found !== undefined) related.set(each, found);
        } catch (thrown) {
          const why = thrown instanceof Error ? thrown.message : String(thrown);
          gaps.push(`What ${each} knows could not be asked: ${why}`);
        }
      }),
    );
  };
  await ask(neighboursOf(subject));
  await ask([...related.values()].flatMap(behind));
  if (subject.turns[0] !== undefined && subject.turns[0].turn > 1)
    gaps.push(`Its turns before number ${subject.turns[0].turn} are no longer in the history.`);
  return { at: around.at, subject, related, usual: around.usual, gaps };
}

/** Actors that it exchanged messages with, the latest first. */
function neighboursOf({ turns, address }: Evidence): string[] {
  const found = new Set<string>();
  for (const { from, did = [] } of turns.toReversed()) {
    if (from?.includes('/') === true && from.includes('@') && !from.startsWith('session:'))
      found.add(from);
    for (const text of did) {
      const [, to] = /^(?:\d+ × )?(?:send|hint) \S+ to (\S+)$/.exec(text) ?? [];
      if (to !== undefined && to !== address) found.add(to);
    }
  }
  return [...found].filter((each) => !/^(?:ask|submission-page|desk|worker-pool)\//.test(each));
}

/** Worker that an attempt had, as its datacenter knows it. */
function behind({ kind, address, context }: Evidence): string[] {
  if (kind !== 'workflow') return [];
  const { lastWorkerId, slot } = (context ?? {}) as {
    readonly lastWorkerId?: unknown;
    readonly slot?: { readonly workerId?: unknown } | null;
  };
  const worker = slot?.workerId ?? lastWorkerId;
  return typeof worker === 'string'
    ? [`worker-health/${worker}@${address.slice(address.lastIndexOf('@') + 1)}`]
    : [];
}
