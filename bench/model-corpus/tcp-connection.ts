/** TCP connection by RFC 9293, without its sequence numbers. */

import { setup } from 'xstate';
import type { CorpusEntry } from './entry.ts';

const machine = setup({ delays: { twoLifetimes: 240_000, userTimeout: 300_000 } }).createMachine({
  id: 'tcp',
  initial: 'closed',
  states: {
    closed: { on: { 'open.passive': 'listen', 'open.active': 'synSent' } },
    listen: { on: { 'syn.received': 'synReceived', send: 'synSent', close: 'closed' } },
    synSent: {
      on: { 'synAck.received': 'established', 'syn.received': 'synReceived', close: 'closed' },
      after: { userTimeout: 'closed' },
    },
    synReceived: {
      on: { 'ack.received': 'established', close: 'finWait1', 'rst.received': 'listen' },
    },
    established: {
      tags: 'open',
      on: { close: 'finWait1', 'fin.received': 'closeWait', 'rst.received': 'closed' },
    },
    finWait1: {
      on: { 'ack.received': 'finWait2', 'fin.received': 'closing', 'finAck.received': 'timeWait' },
    },
    finWait2: { on: { 'fin.received': 'timeWait' } },
    closing: { on: { 'ack.received': 'timeWait' } },
    closeWait: { tags: 'open', on: { close: 'lastAck' } },
    lastAck: { on: { 'ack.received': 'closed' } },
    timeWait: { after: { twoLifetimes: 'closed' } },
  },
});

export const entry: CorpusEntry = { machine };
