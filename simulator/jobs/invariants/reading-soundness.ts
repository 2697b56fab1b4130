/**
 * Since when each datacenter is sound: it has a leader that is up, goes at its own pace, and can write.
 *
 * What is done to the network does not matter here, and neither does what happens to gates and workers:
 * what a datacenter owes by itself it owes while nobody reaches it. Anything else that a fault may do
 * makes every datacenter unsound as long as it goes on.
 */

import type { HistoryRecord, LeaseFact, NodeFact, RecordOf } from '../../history.ts';
import type { CommitRecord, Watcher } from '../../invariants.ts';
import type { JobsFacts } from '../facts.ts';

type FaultRecord = Extract<HistoryRecord, { readonly type: 'fault' }>;

/** Faults of the network, of gates, of workers, of clients, and those that nodes tell of themselves. */
const HARMLESS: ReadonlySet<string> = new Set([
  'swizzleClog',
  'lateFrames',
  'lostFrames',
  'repeatedFrames',
  'reorderedFrames',
  'damagedFrames',
  'connectionResets',
  'deafLeader',
  'isolateNodes',
  'isolateLeader',
  'isolateGateAtDeclaration',
  'partition',
  'partDatacenters',
  'flapping',
  'crashNodes',
  'crashLoop',
  'powerCut',
  'rollingRestart',
  'pauseLeader',
  'pauseNodes',
  'killAtFailpoint',
  'killBetweenGrantAndCount',
  'killBetweenDeclarationAndBroadcast',
  'killBeforeAcknowledgement',
  'workerDiesAfterGrant',
  'gateOutage',
  'forgetfulGate',
  'gateAwayAfterReport',
  'silentAfterStall',
  'wordBehindHistory',
  'partedSubmission',
  'progressStarvation',
  'starvedHeartbeats',
  'silentAtWork',
  'delayedDuplicate',
  'reconnectHerd',
  'throwingOnlookers',
  'rest',
]);

interface Place {
  leader: string | undefined;
  /** True time; undefined while it is not sound. */
  soundMs: number | undefined;
}

/** Hears how long a place was sound at each moment in which that changes, and when the run is over. */
export type SoundnessHearer = (place: string, atMs: number, soundSinceMs: number) => void;

export class Soundness {
  readonly #facts: JobsFacts;
  readonly #hear: SoundnessHearer;
  readonly #places = new Map<string, Place>();
  readonly #faults = new Set<string>();
  /** Nodes that stand still. */
  readonly #paused = new Set<string>();

  constructor(facts: JobsFacts, hear: SoundnessHearer) {
    this.#facts = facts;
    this.#hear = hear;
    for (const place of facts.datacenters)
      this.#places.set(place, { leader: undefined, soundMs: undefined });
  }

  watcher(): Watcher {
    return {
      node: (record) => this.#node(record),
      lease: (record) => this.#lease(record),
      commit: (record) => this.#commit(record),
      fault: (record) => this.#fault(record),
    };
  }

  /** Since when the place is sound, in true time; undefined while it is not. */
  since(place: string): number | undefined {
    return this.#places.get(place)?.soundMs;
  }

  end(endedAtMs: number): void {
    for (const place of this.#places.keys()) this.#change(place, endedAtMs, undefined);
  }

  #node({ node, change, atMs }: RecordOf<NodeFact>): void {
    if (change === 'paused') this.#paused.add(node);
    else if (change !== 'skewed' && change !== 'slowed') this.#paused.delete(node);
    const name = this.#facts.places[node] ?? '';
    const place = this.#places.get(name);
    if (place?.leader !== node) return;
    if (change === 'crashed' || change === 'stopped' || change === 'started')
      place.leader = undefined;
    const isWell = change === 'resumed' || change === 'skewed';
    this.#change(name, atMs, isWell ? atMs : undefined);
  }

  #lease({ node, place: name, change, atMs }: RecordOf<LeaseFact>): void {
    const place = this.#places.get(name);
    if (place === undefined || (change === 'lost' && place.leader !== node)) return;
    place.leader = change === 'acquired' ? node : undefined;
    this.#change(name, atMs, change === 'acquired' ? atMs : undefined);
  }

  /** A store that refuses may do so for a while; a leader that cannot write decides nothing. */
  #commit({ place: name, node, change, atMs }: CommitRecord): void {
    const place = this.#places.get(name);
    if (place === undefined) return;
    if (change === 'settled') {
      // The node that writes leads, also where nobody has told of the lease.
      place.leader ??= node;
      if (place.soundMs !== undefined || place.leader !== node) return;
    }
    this.#change(name, atMs, place.leader === undefined ? undefined : atMs);
  }

  #fault({ kind, id, change, atMs }: FaultRecord): void {
    if (HARMLESS.has(kind)) return;
    if (change === 'ended') this.#faults.delete(id);
    else this.#faults.add(id);
    // A commit that a slow disk holds up outlasts the fault: the place is sound with that.
    for (const [name, { leader }] of this.#places)
      this.#change(name, atMs, kind === 'slowDisk' || leader === undefined ? undefined : atMs);
  }

  #change(name: string, atMs: number, soundMs: number | undefined): void {
    const place = this.#places.get(name) as Place;
    if (place.soundMs !== undefined) this.#hear(name, atMs, place.soundMs);
    // Whatever ends meanwhile: a leader that stands still does nothing, and a fault that goes on hinders it.
    const isHindered = this.#faults.size > 0 || this.#paused.has(place.leader ?? '');
    place.soundMs = isHindered ? undefined : soundMs;
  }
}
