/**
 * A user's invariant: a sentence about their own actors, and how a run is held against it.
 *
 * It hears what happens, turn by turn, and can look at every actor as it is on disk at that moment,
 * which is true whichever node is down. `check` counts how often the sentence had something to say, so that
 * one that never applied is not taken for one that held.
 */

import type { AnyStateMachine, ContextFrom } from 'xstate';
import { kindOf } from '../../runtime/base/address.ts';
import type { KindMap } from '../../runtime/runtime.ts';
import type { HistoryRecord } from '../history.ts';
import type { Invariant, RunFacts, Watcher } from '../invariants.ts';

export interface OwnInvariant<TKinds extends KindMap = KindMap> {
  /** The sentence; it names the invariant too. */
  readonly says: string;
  /** Called once for each run. */
  readonly watch: (run: RunView<TKinds>) => Watcher;
}

/** What an invariant knows of a run. */
export interface RunView<TKinds extends KindMap = KindMap> {
  /** Nodes and places, how far clocks can be off, when the faults are over. */
  readonly facts: RunFacts;
  /** The actors of a kind as they are on disk now, ended ones included, in the order of their addresses. */
  actors<TKind extends keyof TKinds & string>(kind: TKind): ReadonlyArray<ActorView<TKinds[TKind]>>;
  /** One of them, by its whole address. */
  actor(address: string): ActorView | undefined;
  /** It has to hold; `what` says how it does not, `record` where that was seen. */
  check(holds: boolean, what: string, record?: HistoryRecord): void;
}

export interface ActorView<TMachine extends AnyStateMachine = AnyStateMachine> {
  readonly address: string;
  /** As XState has it: a name, or an object of regions. */
  readonly value: unknown;
  readonly context: ContextFrom<TMachine>;
  readonly status: 'active' | 'done' | 'stopped';
}

export function invariant<TKinds extends KindMap = KindMap>(
  says: string,
  watch: (run: RunView<TKinds>) => Watcher,
): OwnInvariant<TKinds> {
  return { says, watch };
}

/** What is known of a run of anybody's own machines beside its history. */
export interface OwnFacts extends RunFacts {
  readonly stored: StoredActors;
}

/** All actors as they are on the disks, by what was committed. */
export class StoredActors {
  readonly #texts = new Map<string, string>();
  readonly #read = new Map<string, ActorView>();

  see(record: HistoryRecord): void {
    if (record.type !== 'commit') return;
    for (const { address, record: text } of record.writes) {
      this.#read.delete(address);
      if (text === null) this.#texts.delete(address);
      else this.#texts.set(address, text);
    }
  }

  of(kind: string): readonly ActorView[] {
    const addresses = [...this.#texts.keys()].filter((address) => kindOf(address) === kind);
    return addresses.sort().map((address) => this.find(address) as ActorView);
  }

  find(address: string): ActorView | undefined {
    const text = this.#texts.get(address);
    if (text === undefined) return undefined;
    const view = this.#read.get(address) ?? viewOf(address, text);
    this.#read.set(address, view);
    return view;
  }
}

/** See runtime/actor/record.ts. */
interface StoredRecord {
  readonly snapshot: { readonly value?: unknown; readonly context?: unknown };
  readonly status?: ActorView['status'];
}

function viewOf(address: string, text: string): ActorView {
  const { snapshot, status = 'active' } = JSON.parse(text) as StoredRecord;
  return { address, value: snapshot.value, context: snapshot.context, status };
}

/** As the judge of a run takes it. */
export function judged({ says, watch }: OwnInvariant): Invariant<OwnFacts> {
  return {
    id: says,
    kind: 'safety',
    says,
    watch: (facts, verdict) =>
      watch({
        facts,
        actors: (kind) => facts.stored.of(kind),
        actor: (address) => facts.stored.find(address),
        check: (holds, what, record) => {
          verdict.exercised();
          if (!holds) verdict.broken(what, record);
        },
      }),
  };
}
