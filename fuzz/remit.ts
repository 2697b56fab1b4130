/**
 * Checker of what a peer of a role may change, and of what nobody of that role may: judged from the records
 * alone.
 *
 * The checker asks nobody whether something was allowed. It knows which actors are whose by their names,
 * leaves out of their records what time alone changes, and compares the rest with what it was before.
 */

export const BYZANTINE_ROLES = ['worker', 'client', 'manager-of-another-place'] as const;
export type ByzantineRole = (typeof BYZANTINE_ROLES)[number];

/** Jobs that peers of the role have nothing to do with; the others are theirs to spoil. */
export const VICTIMS = ['victim-A', 'victim-gate'] as const;
/** Jobs whose workflows any worker is given, and that may be sent to any datacenter. */
export const BAITS = ['one-A', 'one-gate'] as const;
/** A worker that does what it should, and the handler that it alone has. */
export const HONEST = { worker: 'A.worker-honest', handler: 'kept' } as const;

/** Fields of a record that time moves: when something was heard, and numbers that honest peers raise meanwhile. */
const MOVED_BY_TIME: ReadonlySet<string> = new Set([
  'askedAt',
  'deadline',
  'elapsedMs',
  'heard',
  'heartbeatSeq',
  'lastGateContactAt',
  'lastHeardAt',
  'lastProgressAt',
  'lastSeenAt',
  'listed',
  'queue',
  'queued',
  'registrations',
  'reportSeq',
  'seenAt',
  'seq',
  'sinceProgressMs',
  'unheard',
]);

/**
 * Fields of a datacenter, as a gate knows it, that honest words move, or their lack: how fast the fastest of them
 * was, and since when it is heard. A busy machine holds words up.
 */
const MOVED_BY_WORDS: ReadonlySet<string> = new Set([
  'contact',
  'contactSince',
  'isQuestioned',
  'metAt',
  'question',
  'startedAt',
]);

/**
 * Regions that follow words of others: of a gate's job, who is silent and whose old words are waited for; of a worker
 * pool, whether it looks for what waits, as it does for every worker that registers.
 */
const FOLLOWING_WORDS: ReadonlySet<string> = new Set(['catchUpLimit', 'searching', 'silenceLimit']);

/** Numbers that only rise, and that a peer can tell of; wherever they stand. */
const RAISED: ReadonlySet<string> = new Set([
  'fence',
  'gateBoot',
  'highestDecisionEpoch',
  'leaderFence',
  'obeyedDecisionEpoch',
  'term',
]);

interface StoredRecord {
  readonly snapshot?: { readonly value?: unknown; readonly context?: Fields };
  readonly status?: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** The part of a record that a peer of this role must not change; nothing where all of it is its own. */
export function judgedPart(
  role: ByzantineRole,
  address: string,
  record: string,
): string | undefined {
  if (!isJudged(role, address)) return undefined;
  const { snapshot, status } = JSON.parse(record) as StoredRecord;
  const context = address.startsWith('worker-pool/')
    ? { workers: { [HONEST.worker]: honestRow(snapshot?.context) }, term: snapshot?.context?.term }
    : snapshot?.context;
  return JSON.stringify([snapshot?.value, status, context], withoutMoved);
}

function withoutMoved(this: object, key: string, value: unknown): unknown {
  const isOfDatacenter = 'contactSince' in this;
  const isMoved =
    MOVED_BY_TIME.has(key) ||
    FOLLOWING_WORDS.has(key) ||
    (isOfDatacenter && MOVED_BY_WORDS.has(key));
  return isMoved ? undefined : value;
}

function honestRow(context: Fields | undefined): unknown {
  const { registration, bootEpoch, coresTotal, handlers } =
    (context?.workers as Record<string, Fields> | undefined)?.[HONEST.worker] ?? {};
  return { registration, bootEpoch, coresTotal, handlers };
}

function isJudged(role: ByzantineRole, address: string): boolean {
  const [kind, rest = ''] = [
    address.slice(0, address.indexOf('/')),
    address.slice(address.indexOf('/') + 1),
  ];
  const jobId = rest.slice(0, rest.search(/[/@]/));
  const isVictim = VICTIMS.some((victim) => victim === jobId);
  const isBait = BAITS.some((bait) => bait === jobId);
  switch (role) {
    case 'client':
      // It may hand in jobs, and do nothing to those that are there.
      return kind === 'desk' || kind === 'submission-page'
        ? false
        : isVictim || isBait || kind === 'worker-health' || kind === 'worker-pool';
    case 'worker':
      return kind === 'worker-health' ? jobId === HONEST.worker : !isBait;
    case 'manager-of-another-place':
      if (address.endsWith('@gate')) return isVictim;
      // A gate job that was sent to it, too, ends as its gate decides by what all have said.
      return jobId !== 'one-gate';
  }
}

/** Numbers that are further above their place's fence than anybody may have told of, by where they stand. */
export function beyondReach(
  address: string,
  record: string,
  fence: number,
  stepMax: number,
): string[] {
  const found: string[] = [];
  const highest = fence + stepMax + 1;
  const look = (value: unknown, path: string): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, inner] of Object.entries(value)) {
      // What a datacenter says of its own leaders is its own.
      if (key === 'datacenters') continue;
      const [number] = Array.isArray(inner) ? inner : [inner];
      if (RAISED.has(key) && typeof number === 'number' && number > highest)
        found.push(`${address} ${path}${key} ${number}`);
      look(inner, `${path}${key}.`);
    }
  };
  look((JSON.parse(record) as StoredRecord).snapshot?.context, '');
  return found;
}

/** Text around a difference. */
const AROUND = 60;

/** Where two records first differ; nothing when they do not. */
export function changeOf(
  before: string | undefined,
  after: string | undefined,
): string | undefined {
  if (before === after) return undefined;
  if (before === undefined) return 'is new';
  if (after === undefined) return 'is gone';
  let place = 0;
  while (before[place] === after[place]) place += 1;
  const near = (text: string): string => text.slice(Math.max(0, place - AROUND), place + AROUND);
  return `was ${near(before)} and is ${near(after)}`;
}
