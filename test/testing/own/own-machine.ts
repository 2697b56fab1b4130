/** Machine of the project as the tool tests it: what may be said to it, and what nothing reaches. */

import type { AnyStateMachine } from 'xstate';
import type { GivenSamples } from '../../../testing/model/samples.ts';

export interface OwnMachine {
  // biome-ignore lint/suspicious/noExplicitAny: machines of every shape.
  readonly machine: AnyStateMachine | any;
  readonly samples: GivenSamples;
  /** Situations of one input that are looked at. Default 600. */
  readonly situationsMax?: number;
  /** Names of what cannot be covered, with the reason. */
  readonly unreachable?: Readonly<Record<string, string>>;
}
