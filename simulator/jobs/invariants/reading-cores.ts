/**
 * The cores of each worker as the messages of its worker pool add up: what was granted, less what was
 * given back.
 *
 * The sums are made here, of what the pool took and said; what its record says of them is not read. Where
 * a turn was not seen nobody can say what is reserved: its workers are forgotten until they register again.
 */

import { idOf, placeOf } from '../../../machines/jobs/addresses.ts';
import type {
  LeadershipAcquired,
  MessageRefused,
  RegistrationTold,
  SlotGranted,
  SlotReleased,
  WorkerChanged,
  WorkerLost,
} from '../../../machines/jobs/messages/local.ts';
import {
  eventOf,
  followTurns,
  type SentRecord,
  type TakenTurn,
  type TurnRecord,
  type TurnWatcher,
} from './reading-turns.ts';

export interface KnownWorker {
  readonly registration: number;
  readonly coresTotal: number;
  readonly handlers: readonly string[];
  readonly state: string;
  /** Heard by the leader that leads now. */
  readonly heard: boolean;
  /** Granted and not given back. */
  readonly granted: number;
}

interface Pool {
  term: number;
  readonly workers: Map<string, KnownWorker>;
  /** Registrations by worker that, where a turn was not seen, may have been there before with cores. */
  readonly unsure: Map<string, number> | undefined;
}

/** What somebody who follows the sums is told. */
interface CoresReader {
  /** The sum of a worker is another one now. */
  readonly summed?: (name: string, worker: KnownWorker, record: TurnRecord | SentRecord) => void;
  /** All that a turn of a pool did is in the sums. */
  readonly over?: (place: string, record: TurnRecord) => void;
}

type Given = Pick<SlotReleased, 'workerId' | 'registration' | 'cores'>;

export class Cores {
  readonly #pools = new Map<string, Pool>();
  readonly #reader: CoresReader;

  constructor(reader: CoresReader = {}) {
    this.#reader = reader;
  }

  workersOf(place: string): ReadonlyMap<string, KnownWorker> {
    return this.#pool(place).workers;
  }

  watcher(): TurnWatcher {
    return followTurns<unknown>('worker-pool', {
      took: (turn) => this.#take(turn),
      said: (message) => this.#say(message),
      over: ({ record }) => this.#reader.over?.(record.place, record),
      forgot: (address) => this.#pools.delete(placeOf(address)),
    });
  }

  #pool(place: string): Pool {
    const pool = this.#pools.get(place) ?? { term: 0, workers: new Map(), unsure: undefined };
    this.#pools.set(place, pool);
    return pool;
  }

  #take({ record, before, isSpawn }: TakenTurn<unknown>): void {
    const { place } = record;
    if (before === undefined && !isSpawn)
      this.#pools.set(place, { term: 0, workers: new Map(), unsure: new Map() });
    const pool = this.#pool(place);
    const led = eventOf<LeadershipAcquired>(record, 'leadership.acquired');
    if (led !== undefined) {
      pool.term = led.fence;
      for (const [name, worker] of pool.workers)
        pool.workers.set(name, { ...worker, heard: false });
    }
    const changed = eventOf<WorkerChanged>(record, 'worker.changed');
    if (changed !== undefined) {
      const { state, heard, term } = changed;
      this.#change(pool, changed, (worker) => ({
        ...worker,
        state,
        heard: worker.heard || (heard && term >= pool.term),
      }));
    }
    const lost = eventOf<WorkerLost>(record, 'worker.lost');
    if (lost !== undefined && pool.workers.get(lost.workerId)?.registration === lost.registration)
      pool.workers.delete(lost.workerId);
    const given = givenBack(record);
    if (given !== undefined) this.#add(pool, given, -given.cores, record);
  }

  #say(message: SentRecord): void {
    const pool = this.#pool(message.place);
    const { event, to } = message;
    if (event.type === 'registration.told') {
      const { registration, coresTotal, handlers } = event as RegistrationTold;
      const name = idOf(to);
      const known = pool.workers.get(name);
      const fresh = {
        registration,
        coresTotal,
        handlers,
        state: 'healthy',
        heard: false,
        granted: 0,
      };
      const isSame = known?.registration === registration;
      if (isSame) pool.workers.set(name, { ...known, handlers });
      else if (known !== undefined || isFresh(pool, name, registration))
        pool.workers.set(name, fresh);
    }
    if (event.type !== 'slot.granted') return;
    const granted = event as SlotGranted;
    this.#add(pool, granted, granted.cores, message);
  }

  #add(pool: Pool, of: Given, cores: number, record: TurnRecord | SentRecord): void {
    this.#change(pool, of, (worker) => {
      const now = { ...worker, granted: worker.granted + cores };
      this.#reader.summed?.(`${of.workerId} (registration ${of.registration})`, now, record);
      return now;
    });
  }

  #change(
    pool: Pool,
    { workerId, registration }: Pick<Given, 'workerId' | 'registration'>,
    change: (worker: KnownWorker) => KnownWorker,
  ): void {
    const worker = pool.workers.get(workerId);
    if (worker?.registration === registration) pool.workers.set(workerId, change(worker));
  }
}

/** False of one that is told for the first time since a turn was missed: it may have been told before. */
function isFresh({ unsure }: Pool, name: string, registration: number): boolean {
  if (unsure === undefined) return true;
  const first = unsure.get(name) ?? registration;
  unsure.set(name, first);
  return first !== registration;
}

/** Also by one who was granted cores and has ended. */
function givenBack(record: TurnRecord): Given | undefined {
  const released = eventOf<SlotReleased>(record, 'slot.released');
  if (released !== undefined) return released;
  const refused = eventOf<MessageRefused>(record, 'message.refused');
  return refused?.event.type === 'slot.granted' ? (refused.event as unknown as Given) : undefined;
}
