/**
 * The rehearsal of an upgrade: every stored record, restored with the new machines
 * before the new machines are let loose on it.
 *
 * Guarantees: the store is only read; records are taken one at a time, so memory does not grow with
 * their number; the findings are what a node would meet, because the record is decoded by the code
 * that a node decodes it with. It does not run the new machines: how they behave afterwards is a
 * matter of tests (`escapement/testing`).
 */

import { kindOf } from '../base/address.ts';
import { RuntimeError } from '../base/errors.ts';
import type { Store } from '../ports/store.ts';
import { compareKinds, type MachineDifference, matters } from './diff.ts';
import { type FindingGroup, Findings } from './findings.ts';
import type { RehearsedKinds } from './kinds.ts';
import { type Rehearsed, rehearseRecord } from './record.ts';

/** Parts of a store that are read. */
export interface RehearsedStore extends Pick<Store, 'entries' | 'load' | 'rows'> {
  /** Records that cannot be read, for stores that can tell. */
  damaged?(): Iterable<readonly [address: string, reason: string]>;
}

export interface RehearsalOptions {
  readonly store: RehearsedStore;
  /** Undefined when the old code is not at hand: then comparisons with it are left out. */
  readonly old: RehearsedKinds | undefined;
  readonly next: RehearsedKinds;
  /** Kinds to look at; all when it is empty. */
  readonly only?: readonly string[];
  /** Example addresses kept of each finding. */
  readonly examplesMax: number;
  /** Makes a changed delay a failure too. */
  readonly isStrict?: boolean;
  /** Called after each record. */
  readonly onRecord?: (records: number) => void;
}

export interface RehearsedTotals {
  readonly kind: string;
  readonly records: number;
  readonly restored: number;
}

export interface Rehearsal {
  /** True when every record restores and nothing worse than a note was found. */
  readonly holds: boolean;
  /** Records of the kinds looked at. */
  readonly records: number;
  /** Records that something worse than a note was found of. */
  readonly affected: number;
  readonly kinds: readonly RehearsedTotals[];
  readonly findings: readonly FindingGroup[];
  /** Undefined without the old code. */
  readonly differences: readonly MachineDifference[] | undefined;
}

type Totals = { -readonly [field in keyof RehearsedTotals]: RehearsedTotals[field] };

/** @throws what the store throws when it fails as a whole. */
export function rehearse(options: RehearsalOptions): Rehearsal {
  const { store, old, next, only = [], examplesMax, isStrict = false, onRecord } = options;
  const run = new Run(old, next, new Findings(examplesMax, isStrict));
  const isWanted = (kind: string) => only.length === 0 || only.includes(kind);
  for (const [address] of store.entries()) {
    if (!isWanted(kindOf(address))) continue;
    run.take(address, store);
    onRecord?.(run.records);
  }
  for (const [address, reason] of store.damaged?.() ?? [])
    if (isWanted(kindOf(address))) run.refuse(address, reason);
  const differences =
    old && compareKinds(old, next).filter((difference) => isWanted(difference.kind));
  for (const difference of differences ?? []) run.checkVersion(difference);
  return { ...run.result(), differences };
}

class Run {
  records = 0;
  #affected = 0;
  readonly #old: RehearsedKinds | undefined;
  readonly #next: RehearsedKinds;
  readonly #findings: Findings;
  readonly #totals = new Map<string, Totals>();
  /** Bounded by what the store has damaged, which ends a rehearsal's usefulness long before memory. */
  readonly #unreadable = new Set<string>();

  constructor(old: RehearsedKinds | undefined, next: RehearsedKinds, findings: Findings) {
    this.#old = old;
    this.#next = next;
    this.#findings = findings;
  }

  take(address: string, store: RehearsedStore): void {
    const name = kindOf(address);
    const next = this.#next.get(name);
    if (next === undefined) {
      this.#miss(name, address);
      return;
    }
    let stored: Rehearsed | undefined;
    try {
      stored = storedOf(store, address);
    } catch (thrown) {
      // A store that fails as a whole would fail on every record to come.
      if (!(thrown instanceof RuntimeError && thrown.code.startsWith('RECORD_'))) throw thrown;
      this.refuse(address, thrown.message);
      return;
    }
    // It ended between the two looks: its node is alive and goes on.
    if (stored === undefined) return;
    const { isRestored, findings } = rehearseRecord(address, stored, next, this.#old?.get(name));
    const totals = this.#count(name);
    if (isRestored) totals.restored += 1;
    if (findings.some((finding) => this.#findings.levelOf(finding.name) !== 'note'))
      this.#affected += 1;
    for (const finding of findings) this.#findings.add(name, finding, address);
  }

  /** A record that the store itself cannot read. */
  refuse(address: string, reason: string): void {
    if (this.#unreadable.has(address)) return;
    this.#unreadable.add(address);
    const name = kindOf(address);
    this.#count(name);
    this.#affected += 1;
    const detail = reason.replaceAll(address, 'the actor');
    this.#findings.add(name, { name: 'unreadable', detail }, address);
  }

  checkVersion(difference: MachineDifference): void {
    const { kind, oldVersion, newVersion } = difference;
    if (oldVersion === undefined || newVersion === undefined || newVersion > oldVersion) return;
    if (!matters(difference) && !this.#findings.breaks(kind)) return;
    this.#findings.add(kind, {
      name: 'version-not-raised',
      detail: `The machine differs, and its version is ${newVersion} as before`,
      fix: `register it with version ${oldVersion + 1} and a migration, unless nothing stored is concerned`,
    });
  }

  result(): Omit<Rehearsal, 'differences'> {
    const findings = this.#findings.list();
    return {
      holds: findings.every(({ level }) => level === 'note'),
      records: this.records,
      affected: this.#affected,
      kinds: [...this.#totals.values()].sort((a, b) => (a.kind < b.kind ? -1 : 1)),
      findings,
    };
  }

  /** The new release does not have the kind. */
  #miss(kind: string, address: string): void {
    this.#count(kind);
    const wasKnown = this.#old?.has(kind) === true;
    if (wasKnown) this.#affected += 1;
    const finding = {
      name: wasKnown ? ('kind-removed' as const) : ('kind-unknown' as const),
      detail: `NEW has no kind "${kind}": its actors would wait until a release has it`,
    };
    this.#findings.add(kind, finding, address);
  }

  #count(kind: string): Totals {
    this.records += 1;
    const totals = this.#totals.get(kind) ?? { kind, records: 0, restored: 0 };
    this.#totals.set(kind, totals);
    totals.records += 1;
    return totals;
  }
}

function storedOf(store: RehearsedStore, address: string): Rehearsed | undefined {
  const text = store.load(address);
  return text === undefined ? undefined : { text, rows: [...store.rows(address)] };
}
