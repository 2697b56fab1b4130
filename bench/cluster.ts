/** The cluster suite: messages and jobs between processes, over sockets. */

import { bullmq } from './cluster-bullmq.ts';
import { messages } from './cluster-messages.ts';
import { roundTrip } from './cluster-round-trip.ts';
import type { Suite } from './suite.ts';

export const cluster: Suite = {
  name: 'cluster',
  about: 'messages and jobs between processes over sockets, against plain ws and BullMQ',
  fields: [messages, roundTrip, bullmq],
};
