/**
 * Turns of a client's questions that look through everything: a few are worked off at once, and the others
 * in the order in which they came.
 *
 * Guarantees: what one client asks for makes no other wait in line; a question that nobody may answer here any
 * more is not begun. Those of the process itself and of gates have no line: both speak for others, whom they
 * have let ask, as the HTTP API does. The number that may wait is not limited here: a client that asks too
 * often in a minute is sent away.
 */

import type { PerformerCall } from '../../../runtime/actor.ts';
import { knob } from '../../../runtime/base/knob.ts';

const AT_ONCE = knob('clientScansAtOnce', 2);

interface Line {
  running: number;
  readonly waiting: Array<() => void>;
}

type Asked = Pick<PerformerCall, 'signal'> & {
  readonly params: { readonly replyTo?: string | undefined };
};

export class ClientTurns {
  readonly #trusted: ReadonlySet<string>;
  readonly #lines = new Map<string, Line>();

  /** `trusted`: nodes that speak for others. */
  constructor(trusted: readonly string[]) {
    this.#trusted = new Set(trusted);
  }

  /** A performer that takes its turn. */
  inTurn<TCall extends Asked>(
    perform: (call: TCall) => Promise<void>,
  ): (call: TCall) => Promise<void> {
    return async (call) => {
      const asking = (call.params.replyTo ?? '').replace(/^.*@/, '');
      if (this.#trusted.has(asking)) return perform(call);
      const leave = await this.#enter(asking.replace(/~.*$/, ''));
      try {
        if (!call.signal.aborted) await perform(call);
      } finally {
        leave();
      }
    };
  }

  async #enter(client: string): Promise<() => void> {
    const line = this.#lines.get(client) ?? { running: 0, waiting: [] };
    this.#lines.set(client, line);
    if (line.running < AT_ONCE.value) line.running += 1;
    else await new Promise<void>((resolve) => line.waiting.push(resolve));
    return () => {
      // A question that leaves hands its place on.
      const next = line.waiting.shift();
      if (next !== undefined) next();
      else line.running -= 1;
      if (line.running === 0) this.#lines.delete(client);
    };
  }
}
