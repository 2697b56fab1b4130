/** A nemesis: a fault of the menu in a plan, as data: which kind, when, for how long, on whom. */

export interface Nemesis {
  /** Names it in the history; unique in its plan. */
  readonly id: string;
  /** As in the menu. */
  readonly kind: string;
  readonly atMs: number;
  readonly durMs: number;
  /** Nodes and places; what they mean is the kind's business. */
  readonly targets: readonly string[];
  readonly params: Readonly<Record<string, number | string | boolean>>;
}

/** The part of a plan that says what goes wrong. */
export interface PlannedFaults {
  readonly nemeses: readonly Nemesis[];
  /** From then on nothing goes wrong any more; null: never. */
  readonly healAtMs: number | null;
}
