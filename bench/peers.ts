/** The peers suite: durable jobs per second against other queues, each with the database it is made for. */

import { peersRate } from './peers/rate.ts';
import type { Suite } from './suite.ts';

export const peers: Suite = {
  name: 'peers',
  about:
    'durable jobs with timeouts, submitted to completed, against pg-boss, graphile-worker and BullMQ',
  fields: [peersRate],
};
