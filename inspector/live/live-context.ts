/**
 * Context of the live views: the runtime that is shown, what it registers, and the rules of showing.
 */

import type { ActorRow, RegisteredKind, RuntimeWatch } from '../../runtime/api.ts';
import { kindOf, placeOf } from '../../runtime/base/address.ts';
import { Runtime } from '../../runtime/runtime.ts';
import { definitionOf } from '../drawing/from-machine.ts';
import type { ActorLine, ChartDefinition, KindDefinition, TurnLine } from '../protocol.ts';
import type { RunsSource, RunsTold } from '../runs/source.ts';
import { redacted, type ShowRules, show } from '../shown.ts';
import { turnLine } from '../turn-lines.ts';
import { RecentTurns } from './recent-turns.ts';

/** Time for which what was told of runs is told again. */
const TOLD_MS = 500;

export class LiveContext {
  readonly runtime: Runtime;
  readonly watch: RuntimeWatch;
  readonly rules: ShowRules;
  /** Role of the node; undefined when embedded. */
  readonly role: string | undefined;
  /** What hosts runs of agents or map-reduce here. */
  readonly runs: RunsSource | undefined;
  readonly recent = new RecentTurns((address, limit) => this.turns(address, limit));
  #told: { readonly at: number; readonly told: RunsTold } | undefined;
  readonly #charts = new Map<
    string,
    { readonly kind: RegisteredKind; readonly chart: ChartDefinition }
  >();

  constructor(runtime: Runtime, rules: ShowRules, role?: string, runs?: RunsSource) {
    this.runtime = runtime;
    this.watch = Runtime.watchOf(runtime as never);
    this.rules = rules;
    this.role = role;
    this.runs = runs;
  }

  get node(): string {
    return this.runtime.node;
  }

  now(): number {
    return this.watch.now();
  }

  /** Runs as they are told, made at most twice a second, however many pages ask. */
  runsTold(): RunsTold {
    const at = this.now();
    if (this.#told === undefined || at - this.#told.at >= TOLD_MS || at < this.#told.at)
      this.#told = {
        at,
        told: this.runs?.view(at, (value) => show(value, this.rules)) ?? { runs: [], more: 0 },
      };
    return this.#told.told;
  }

  /** Definition of a kind, made once per machine. */
  definition(name: string): KindDefinition | undefined {
    const kind = this.watch.kinds().find((each) => each.name === name);
    if (kind === undefined) return undefined;
    let known = this.#charts.get(name);
    if (known?.kind.machine !== kind.machine) {
      known = { kind, chart: definitionOf(kind.machine) };
      this.#charts.set(name, known);
    }
    return { kind: name, version: kind.version, chart: known.chart };
  }

  line(row: ActorRow): ActorLine {
    const { address, kind, status, state, tags, turnAt, dueAt, isPending } = row;
    return {
      address,
      kind,
      key: address.slice(kind.length + 1, address.lastIndexOf('@')),
      place: placeOf(address),
      node: this.node,
      status,
      state,
      tags,
      turnAt,
      ...(dueAt !== null && { dueAt }),
      isPending,
    };
  }

  /** Turns of an actor of this place, oldest first; empty where this node has none. */
  turns(address: string, limit: number): TurnLine[] {
    return this.runtime
      .history(address, { limit })
      .map((row) => this.#clean(turnLine(address, row)));
  }

  isHere(address: string): boolean {
    const place = placeOf(address);
    return place === this.runtime.place && this.watch.hostOf(place) === undefined;
  }

  kindOf(address: string): string {
    return kindOf(address);
  }

  /** Messages of errors may quote what a user typed. */
  #clean(line: TurnLine): TurnLine {
    const { redact } = this.rules;
    return redact === undefined ? line : (redacted(line, redact) as TurnLine);
  }
}
