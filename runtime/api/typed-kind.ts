/**
 * Options of a kind as the compiler checks them against its machine: a performer is named as an
 * action of the machine and gets that action's params. Types only; what the runtime works with is
 * kind.ts.
 */

import type { AnyStateMachine, EventFrom, SnapshotFrom, StateMachine } from 'xstate';
import type { DurablePerformer, KindOptions, PerformerCall, StandardSchema } from '../actor.ts';
import type { Rank } from '../ports/store.ts';
import type { EventTo } from './handle.ts';

export type KindOptionsOf<TMachine extends AnyStateMachine> = Omit<
  KindOptions,
  'perform' | 'validate' | 'rank' | 'questions'
> & {
  /** Rank of an actor in this state, its place in a queue, see `KindOptions`. */
  readonly rank?: (snapshot: SnapshotFrom<TMachine>) => Rank | undefined;
  /** Carries out named actions after the commit. */
  readonly perform?: PerformersOf<TMachine>;
  /** Events that only ask, each with the performer that answers it, see `KindOptions`. */
  readonly questions?: {
    readonly [type in EventFrom<TMachine>['type']]?: ActionOf<TMachine>['type'];
  };
  /** Checks the whole event of messages from outside, by event type. */
  readonly validate?: { readonly [type in EventFrom<TMachine>['type']]?: StandardSchema };
};

/** A machine without `setup` names no actions: then any name and any params will do. */
type PerformersOf<TMachine extends AnyStateMachine> = string extends ActionOf<TMachine>['type']
  ? KindOptions['perform']
  : {
      readonly [name in ActionOf<TMachine>['type']]?: PerformerOf<
        TMachine,
        Extract<ActionOf<TMachine>, { type: name }>['params']
      >;
    };

type PerformerOf<TMachine extends AnyStateMachine, TParams> =
  | Perform<TMachine, TParams>
  | (Omit<DurablePerformer, 'run'> & { readonly run: Perform<TMachine, TParams> });

type Perform<TMachine extends AnyStateMachine, TParams> = (
  call: Omit<PerformerCall, 'params' | 'send'> & {
    readonly params: TParams;
    /** Sends an event to the actor that asked; a repeated effect repeats it under the same identity, so it is taken once. */
    send(event: EventTo<TMachine>): Promise<void>;
  },
) => unknown;

/* biome-ignore-start lint/suspicious/noExplicitAny: only the actions are looked at. */
type ActionOf<TMachine extends AnyStateMachine> =
  TMachine extends StateMachine<
    any,
    any,
    any,
    any,
    infer TAction,
    any,
    any,
    any,
    any,
    any,
    any,
    any,
    any,
    any,
    any
  >
    ? TAction
    : never;
/* biome-ignore-end lint/suspicious/noExplicitAny: end */
