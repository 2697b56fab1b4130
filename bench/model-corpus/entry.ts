/** Entry of the corpus: a machine, and what may be said to it where that cannot be guessed. */

import type { AnyStateMachine } from 'xstate';
import type { GivenSamples } from '../../testing/model/samples.ts';

export interface CorpusEntry {
  // biome-ignore lint/suspicious/noExplicitAny: machines of every shape.
  readonly machine: AnyStateMachine | any;
  readonly samples?: GivenSamples;
}
