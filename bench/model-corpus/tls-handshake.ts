/** TLS 1.3 handshake of a server, with an early alert and a limit. */

import { setup } from 'xstate';
import type { CorpusEntry } from './entry.ts';

const machine = setup({ delays: { handshakeLimit: 10_000 } }).createMachine({
  id: 'tls',
  initial: 'start',
  states: {
    start: { on: { 'clientHello.received': 'receivedHello' } },
    handshake: {
      initial: 'negotiated',
      on: { 'alert.received': 'failed' },
      after: { handshakeLimit: 'failed' },
      states: {
        negotiated: {
          on: { 'earlyData.received': 'waitEnd', 'finished.received': '#tls.connected' },
        },
        waitEnd: { on: { 'endOfEarlyData.received': 'waitCertificate' } },
        waitCertificate: {
          on: { 'certificate.received': 'waitVerify', 'certificate.empty': 'waitFinished' },
        },
        waitVerify: { on: { 'verify.received': 'waitFinished' } },
        waitFinished: { on: { 'finished.received': '#tls.connected' } },
      },
    },
    receivedHello: { on: { 'parameters.chosen': 'handshake', 'parameters.none': 'failed' } },
    connected: {
      tags: 'open',
      on: {
        'keyUpdate.received': {},
        'alert.received': 'closed',
        'closeNotify.received': 'closed',
      },
    },
    closed: { type: 'final' },
    failed: { type: 'final', tags: 'failed' },
  },
});

export const entry: CorpusEntry = { machine };
