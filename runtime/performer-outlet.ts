/** What performers need of their node: where they send and answer, and who notes how they ended. */

import type { Calls } from './calls.ts';
import type { Ledger } from './ledger.ts';
import type { Metrics } from './metrics.ts';
import type { PerformerOutlet } from './performers.ts';
import type { Questions } from './questions.ts';

export function performerOutlet(
  node: { readonly metrics: Metrics; readonly calls: Calls },
  questions: Questions,
  ledger: () => Ledger,
): PerformerOutlet {
  const { metrics } = node;
  return {
    send: (address, event, identity) => node.calls.deliver(address, event, identity),
    reply: (address, replyTo, value) => node.calls.reply(address, replyTo, value),
    given: (params) => questions.given(params),
    failed: () => {
      metrics.actionsFailed += 1;
    },
    retried: () => {
      metrics.effectsRetried += 1;
    },
    finished: (address, effect, failure) => {
      if (failure !== undefined) metrics.effectsGivenUp += 1;
      ledger().finished(address, effect.id, failure);
    },
  };
}
