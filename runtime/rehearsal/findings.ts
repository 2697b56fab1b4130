/**
 * Findings of a rehearsal, put together by kind, finding and detail.
 *
 * Guarantees that it stays small however many records there are: a finding keeps its
 * count and the first few addresses, and a kind has at most `DETAILS_MAX` different
 * details of one finding; what comes beyond is counted together.
 */

/** `error` and `warning` make an upgrade fail, a `note` is for information. */
export type Level = 'error' | 'warning' | 'note';

/** Findings that there are, each with its severity. */
export const FINDINGS = {
  'would-not-restore': 'error',
  'state-gone': 'error',
  'timer-vanishes': 'error',
  'timer-never-armed': 'warning',
  'broken-before': 'warning',
  unreadable: 'warning',
  'kind-removed': 'warning',
  'kind-unknown': 'note',
  'timer-changed': 'note',
  'timer-missing-before': 'note',
  'restores-only-with-new': 'note',
  migrated: 'note',
  'version-not-raised': 'note',
} as const satisfies Record<string, Level>;

export type FindingName = keyof typeof FINDINGS;

export interface Finding {
  readonly name: FindingName;
  /** Detail, the same for all records that it is true of. */
  readonly detail: string;
  /** Remedy. */
  readonly fix?: string | undefined;
}

/** One finding and the records it is true of. */
export interface FindingGroup extends Finding {
  readonly kind: string;
  readonly level: Level;
  /** Records, or 0 for a finding about a kind as a whole. */
  readonly count: number;
  /** Addresses of the first of them. */
  readonly examples: readonly string[];
}

type OpenGroup = { -readonly [field in keyof FindingGroup]: FindingGroup[field] } & {
  readonly examples: string[];
  last: string | undefined;
};

/** Findings that a sound record does not have under the machine that wrote it. */
const BLAMED: ReadonlySet<FindingName> = new Set<FindingName>([
  'would-not-restore',
  'state-gone',
  'timer-vanishes',
  'timer-never-armed',
]);
/** Different details of one finding that a kind may have. */
const DETAILS_MAX = 100;
const OTHERS = 'others, of which there are too many kinds to list';
const ORDER: readonly string[] = ['error', 'warning', 'note'] satisfies Level[];

export class Findings {
  readonly #examplesMax: number;
  readonly #isStrict: boolean;
  readonly #groups = new Map<string, OpenGroup>();
  readonly #details = new Map<string, number>();

  constructor(examplesMax: number, isStrict: boolean) {
    this.#examplesMax = examplesMax;
    this.#isStrict = isStrict;
  }

  levelOf(name: FindingName): Level {
    return this.#isStrict && name === 'timer-changed' ? 'warning' : FINDINGS[name];
  }

  /** `address` is left out for what is true of a kind as a whole. */
  add(kind: string, finding: Finding, address?: string): void {
    const group = this.#groupFor(kind, finding);
    // Two children of one actor may have the same trouble: it is one record all the same.
    if (address === undefined || group.last === address) return;
    group.last = address;
    group.count += 1;
    if (group.examples.length < this.#examplesMax) group.examples.push(address);
  }

  /** True if this kind has a finding that the new machine is to blame for. */
  breaks(kind: string): boolean {
    return [...this.#groups.values()].some(
      (group) => group.kind === kind && BLAMED.has(group.name),
    );
  }

  /** Groups of findings by kind; the worst and the most frequent first. */
  list(): FindingGroup[] {
    return [...this.#groups.values()]
      .map(({ last: _, ...group }) => group)
      .sort(
        (a, b) =>
          compare(a.kind, b.kind) ||
          ORDER.indexOf(a.level) - ORDER.indexOf(b.level) ||
          compare(a.name, b.name) ||
          b.count - a.count ||
          compare(a.detail, b.detail),
      );
  }

  #groupFor(kind: string, { name, detail, fix }: Finding): OpenGroup {
    const family = `${kind} ${name}`;
    const known = this.#groups.get(`${family} ${detail}`);
    if (known !== undefined) return known;
    const details = this.#details.get(family) ?? 0;
    const isFull = details >= DETAILS_MAX;
    const shown = isFull ? OTHERS : detail;
    const key = `${family} ${shown}`;
    const group = this.#groups.get(key) ?? {
      kind,
      name,
      level: this.levelOf(name),
      detail: shown,
      ...(fix === undefined ? {} : { fix }),
      count: 0,
      examples: [],
      last: undefined,
    };
    this.#groups.set(key, group);
    if (!isFull) this.#details.set(family, details + 1);
    return group;
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
