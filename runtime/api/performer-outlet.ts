/**
 * Outlet of performers: the parts of their node by which they send and answer, and that note how they
 * ended.
 */

import type { Metrics } from '../base/metrics.ts';
import type { Ledger, PerformerOutlet, Questions } from '../effects.ts';
import type { Shard } from '../shard.ts';
import type { Calls } from './calls.ts';

export function performerOutlet(
  node: { readonly metrics: Metrics; readonly calls: Calls; readonly shard: Shard },
  questions: Questions,
  ledger: () => Ledger,
): PerformerOutlet {
  const { metrics } = node;
  return {
    send: (address, event, identity) => node.calls.deliver(address, event, identity),
    reply: (address, replyTo, value) => {
      // What was true while the lease was ours may be so no more.
      if (node.shard.stillHosts()) node.calls.reply(address, replyTo, value);
      else questions.refuse(replyTo, 'its node may not host its place any more.');
    },
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
