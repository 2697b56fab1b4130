/**
 * Messages that a fence kept out of this node, the last ones, heard while somebody looks at messages.
 *
 * The inspection stream is read from the first question on until the inspector rests.
 */

import { knob } from '../../runtime/base/knob.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import type { FencedMessage } from '../turn-lines.ts';

const KEPT_MAX = knob('inspectorFencedMax', 1_000);

/** What is told of single actors is built for nobody here. */
const NO_ACTOR = (): boolean => false;

export class FencedMessages {
  readonly #runtime: Pick<Runtime, 'inspect'>;
  #kept: FencedMessage[] = [];
  #end: (() => void) | undefined;

  constructor(runtime: Pick<Runtime, 'inspect'>) {
    this.#runtime = runtime;
  }

  /** Those to an actor, oldest first. */
  to(address: string): FencedMessage[] {
    this.#end ??= this.#runtime.inspect((record) => {
      if (record.type !== 'messageFenced') return;
      const { at, from, counter, to, event } = record;
      this.#kept.push({ at, from, counter, to, type: event.type });
      if (this.#kept.length > KEPT_MAX.value) this.#kept.shift();
    }, NO_ACTOR);
    return this.#kept.filter((each) => each.to === address);
  }

  stop(): void {
    this.#end?.();
    this.#end = undefined;
    this.#kept = [];
  }
}
