/**
 * Definition of a machine as it travels to the page, once per kind and version: what `inspector/drawing/` draws.
 *
 * A state is named by its path, the keys joined by dots; the machine itself by the empty text. A transition is
 * named `path|event|index`, where `event` is the type or descriptor as XState has it and `index` its place among
 * that state's candidates, so that turns, deadlines and exits can point at it.
 */

export type ChartStateType = 'atomic' | 'compound' | 'parallel' | 'final' | 'history';

export interface ChartState {
  /** Path; empty for the machine itself. */
  readonly id: string;
  /** Path of the state around it; absent for the machine itself. */
  readonly parent?: string;
  readonly key: string;
  readonly type: ChartStateType;
  readonly history?: 'shallow' | 'deep';
  /** State that a compound one begins in. */
  readonly initial?: string;
  readonly tags?: readonly string[];
  readonly entry?: readonly string[];
  readonly exit?: readonly string[];
  /** Children that run as long as the state is active. */
  readonly invokes?: ReadonlyArray<{ readonly id: string; readonly src: string }>;
  readonly description?: string;
  /** Times that tests entered it, in a picture of their coverage. */
  readonly count?: number;
}

export type ChartCause = 'event' | 'after' | 'always' | 'done' | 'error' | 'snapshot';

export interface ChartTransition {
  readonly id: string;
  readonly source: string;
  /** Targets; none when it stays where it is. */
  readonly targets: readonly string[];
  readonly type: ChartCause;
  /** Event descriptor, delay name, or id of the child; empty for `always`. */
  readonly name: string;
  /** Id of the timer that brings it. */
  readonly timer?: string;
  readonly guard?: string;
  readonly actions?: readonly string[];
  readonly isReentry?: boolean;
  readonly description?: string;
  /** Times that tests took it, in a picture of their coverage. */
  readonly count?: number;
}

export interface ChartDefinition {
  /** Id of the machine. */
  readonly machine: string;
  /** In document order: a state comes after the state around it. */
  readonly states: readonly ChartState[];
  readonly transitions: readonly ChartTransition[];
  /** Hash of all of it: layouts are kept by it. */
  readonly hash: string;
}

/** Definition of a kind as a node has it registered. */
export interface KindDefinition {
  readonly kind: string;
  readonly version: number;
  readonly chart: ChartDefinition;
}
