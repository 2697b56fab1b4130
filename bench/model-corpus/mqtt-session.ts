/** MQTT session: connect, keep alive, quality of service 2 both ways. */

import { assign, setup } from 'xstate';
import type { CorpusEntry } from './entry.ts';

const machine = setup({
  types: { context: {} as { pings: number } },
  delays: { keepAlive: 60_000, answerLimit: 10_000, expiry: 300_000 },
  actions: { ping: assign({ pings: ({ context }) => context.pings + 1 }) },
}).createMachine({
  id: 'mqtt',
  context: { pings: 0 },
  initial: 'offline',
  states: {
    offline: { on: { connect: 'connecting' }, after: { expiry: 'expired' } },
    connecting: {
      on: { 'connack.ok': 'online', 'connack.refused': 'offline' },
      after: { answerLimit: 'offline' },
    },
    online: {
      tags: 'online',
      type: 'parallel',
      on: { 'socket.closed': 'offline', disconnect: 'expired' },
      states: {
        alive: {
          initial: 'quiet',
          states: {
            quiet: { after: { keepAlive: { target: 'asked', actions: 'ping' } } },
            asked: { on: { pingresp: 'quiet' }, after: { answerLimit: '#mqtt.offline' } },
          },
        },
        outgoing: {
          initial: 'idle',
          states: {
            idle: { on: { publish: 'awaitingReceived' } },
            awaitingReceived: { tags: 'sending', on: { pubrec: 'awaitingComplete' } },
            awaitingComplete: { tags: 'sending', on: { pubcomp: 'idle' } },
          },
        },
        incoming: {
          initial: 'idle',
          states: {
            idle: { on: { 'publish.received': 'held' } },
            held: { on: { pubrel: 'idle' } },
          },
        },
      },
    },
    expired: { type: 'final' },
  },
});

export const entry: CorpusEntry = { machine };
