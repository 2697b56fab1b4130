/** Corpus: the machines that generated tests are measured on, by name. */

import { entry as alwaysChain } from './always-chain.ts';
import { entry as atm } from './atm.ts';
import { entry as beyond25Days } from './beyond-25-days.ts';
import { entry as carAlarm } from './car-alarm.ts';
import { entry as childMachine } from './child-machine.ts';
import { entry as circuitBreaker } from './circuit-breaker.ts';
import { entry as deadRegion } from './dead-region.ts';
import { entry as debounce } from './debounce.ts';
import { entry as delayFromContext } from './delay-from-context.ts';
import type { CorpusEntry } from './entry.ts';
import { entry as fetchOnce } from './fetch-once.ts';
import { entry as fetchRetry } from './fetch-retry.ts';
import { entry as leaseRenewal } from './lease-renewal.ts';
import { entry as lift } from './lift.ts';
import { entry as loginLockout } from './login-lockout.ts';
import { entry as mediaPlayer } from './media-player.ts';
import { entry as mqttSession } from './mqtt-session.ts';
import { entry as nestedDeadlines } from './nested-deadlines.ts';
import { OWN } from './own.ts';
import { entry as parallelInvokes } from './parallel-invokes.ts';
import { entry as raceWithTimeout } from './race-with-timeout.ts';
import { entry as retryBackoff } from './retry-backoff.ts';
import { entry as stagedEscalation } from './staged-escalation.ts';
import { entry as tcpConnection } from './tcp-connection.ts';
import { entry as tenSwitches } from './ten-switches.ts';
import { entry as ties } from './ties.ts';
import { entry as tlsHandshake } from './tls-handshake.ts';
import { entry as trafficLights } from './traffic-lights.ts';
import { entry as twoHundredStates } from './two-hundred-states.ts';
import { entry as unboundedCounter } from './unbounded-counter.ts';
import { entry as upload } from './upload.ts';
import { entry as vendingMachine } from './vending-machine.ts';
import { entry as watchdog } from './watchdog.ts';
import { entry as waterJugs } from './water-jugs.ts';
import { entry as wizard } from './wizard.ts';

export const CORPUS: Readonly<Record<string, CorpusEntry>> = {
  'always-chain': alwaysChain,
  atm: atm,
  'beyond-25-days': beyond25Days,
  'car-alarm': carAlarm,
  'child-machine': childMachine,
  'circuit-breaker': circuitBreaker,
  'dead-region': deadRegion,
  debounce: debounce,
  'delay-from-context': delayFromContext,
  'fetch-once': fetchOnce,
  'fetch-retry': fetchRetry,
  'lease-renewal': leaseRenewal,
  lift: lift,
  'login-lockout': loginLockout,
  'media-player': mediaPlayer,
  'mqtt-session': mqttSession,
  'nested-deadlines': nestedDeadlines,
  'parallel-invokes': parallelInvokes,
  'race-with-timeout': raceWithTimeout,
  'retry-backoff': retryBackoff,
  'staged-escalation': stagedEscalation,
  'tcp-connection': tcpConnection,
  'ten-switches': tenSwitches,
  ties: ties,
  'tls-handshake': tlsHandshake,
  'traffic-lights': trafficLights,
  'two-hundred-states': twoHundredStates,
  'unbounded-counter': unboundedCounter,
  upload: upload,
  'vending-machine': vendingMachine,
  watchdog: watchdog,
  'water-jugs': waterJugs,
  wizard: wizard,
  ...OWN,
};
