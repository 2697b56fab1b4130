/**
 * Marks of a batch: what should not only never fail but sometimes happen: rare meetings of events that the
 * runs of a good batch reach.
 *
 * A mark is a claim about the search and not about the system. One that a whole night never reaches
 * means that the simulator does not look where it should.
 */

import type { HistoryRecord, TurnFact } from '../history.ts';
import type { Watcher } from '../invariants.ts';
import type { JobsFacts } from './facts.ts';

export interface Mark {
  readonly mark: string;
  readonly says: string;
  readonly watch: (facts: JobsFacts, hit: () => void) => Watcher;
}

/** Within one tick: no turn of anything else fits in between. */
const ONE_TICK_MS = 2;
const LAST_SECOND_MS = 1_000;

export const MARKS: readonly Mark[] = [
  {
    mark: 'failoverWithPendingReport',
    says: 'a leader was lost while the gate had not decided on its report',
    watch: (_, hit) => {
      const reported = new Set<string>();
      return {
        turn(record) {
          if (record.kind !== 'job') return;
          if (record.event.type === 'leadership.acquired' && reported.has(record.address)) hit();
          if (record.state.includes('reported')) reported.add(record.address);
          else reported.delete(record.address);
        },
      };
    },
  },
  {
    mark: 'fallbackRacedWithDecision',
    says: 'a decision of the gate reached a job that had ended by fallback',
    watch: (_, hit) => {
      const ended = new Set<unknown>();
      return {
        log({ fields }) {
          if (fields.event === 'timeout.fallback') ended.add(keyOf(fields));
        },
        turn(record) {
          if (record.kind === 'job' && record.event.type === 'timeout.declared')
            if (ended.has(keyOfAddress(record.address))) hit();
        },
      };
    },
  },
  {
    mark: 'rejectedThenObeyed',
    says: 'a decision was rejected as stale, declared again and obeyed',
    watch: (_, hit) => {
      const rejected = new Set<unknown>();
      return {
        log({ fields }) {
          if (fields.event === 'timeout.rejected') rejected.add(keyOf(fields));
          if (fields.event === 'timeout.obeyed' && rejected.has(keyOf(fields))) hit();
        },
      };
    },
  },
  {
    mark: 'extensionInTheLastSecond',
    says: 'a worker was given an extension within a second before its deadline',
    watch: (_, hit) => {
      const dueAt = new Map<string, number>();
      return {
        timers(record) {
          const deadline = record.timers.find(({ id }) => id.includes('deadline'));
          if (deadline !== undefined) dueAt.set(record.address, deadline.dueAt);
        },
        turn(record) {
          if (record.event.type !== 'extension.requested') return;
          const due = dueAt.get(record.address) ?? Number.POSITIVE_INFINITY;
          const left = due - record.takenAt;
          if (left >= 0 && left <= LAST_SECOND_MS) hit();
        },
      };
    },
  },
  {
    mark: 'groupSplitByCrash',
    says: 'a crash left a group half written',
    watch: (_, hit) => ({ commit: ({ change }) => void (change === 'split' && hit()) }),
  },
  {
    mark: 'commitRefused',
    says: 'a group was refused by the store',
    watch: (_, hit) => ({ commit: ({ change }) => void (change === 'refused' && hit()) }),
  },
  {
    mark: 'gateRebuilt',
    says: 'a gate rebuilt a job from what datacenters reported',
    watch: (_, hit) => ({
      log: ({ fields }) => void (fields.event === 'gate.recovered' && hit()),
    }),
  },
  {
    mark: 'doneAndDueInOneTick',
    says: 'a workflow was completed in the moment in which its job was due',
    watch: (_, hit) => {
      const doneAt = new Map<string, number>();
      return {
        turn(record) {
          if (record.kind !== 'job') return;
          const { address, event, atMs } = record;
          if (event.type === 'workflow.changed') doneAt.set(address, atMs);
          else if (isTimer(event.type) && atMs - (doneAt.get(address) ?? -1e9) <= ONE_TICK_MS)
            hit();
        },
      };
    },
  },
  {
    mark: 'twoLeadersAlive',
    says: 'a manager took the lease while the one before still ran',
    watch: (facts, hit) => {
      const leads = new Map<string, string>();
      return {
        lease(record) {
          const { place, node, change } = record;
          const before = leads.get(place);
          if (change === 'acquired') {
            if (before !== undefined && before !== node) hit();
            leads.set(place, node);
          } else if (before === node) leads.delete(place);
        },
        node(record) {
          const place = facts.places[record.node] ?? '';
          if (record.change === 'crashed' && leads.get(place) === record.node) leads.delete(place);
        },
      };
    },
  },
  {
    mark: 'duplicateAfterRestart',
    says: 'a frame came twice, the second time to another life of its node',
    watch: (_, hit) => watchRepetitions(hit),
  },
];

/** The marks that a run reaches. */
export class MarkWatch {
  readonly #reached = new Set<string>();
  readonly #hearers = new Map<string, Array<(record: never) => void>>();

  constructor(facts: JobsFacts) {
    for (const { mark, watch } of MARKS)
      for (const [type, hear] of Object.entries(watch(facts, () => void this.#reached.add(mark)))) {
        const known = this.#hearers.get(type) ?? [];
        this.#hearers.set(type, known);
        known.push(hear as (record: never) => void);
      }
  }

  get reached(): readonly string[] {
    return [...this.#reached];
  }

  see(record: HistoryRecord): void {
    for (const hear of this.#hearers.get(record.type) ?? []) hear(record as never);
  }
}

/**
 * Of a copy the text may be another one than that of its frame, because only its messages outlive
 * a connection. Equal texts that the node itself sends later (greetings, or a message that nobody
 * answered) cannot be told from the copy: then there is nothing to say about it any more.
 */
function watchRepetitions(hit: () => void): Watcher {
  const lives = new Map<string, number>();
  /** Frame that was sent last on each way. */
  const sent = new Map<string, string>();
  /** Repetitions by way and text, of the frame and of its copy. */
  const repetitions = new Map<string, Repetition>();
  const drop = ({ keys }: Repetition) => {
    for (const key of keys) repetitions.delete(key);
  };
  return {
    node: ({ node, life }) => void lives.set(node, life),
    frame({ node, to, change, frame }) {
      const way = `${node}>${to}`;
      if (change === 'sent') sent.set(way, frame);
      // Most runs repeat nothing, and the keys are long.
      if (change !== 'repeated' && repetitions.size === 0) return;
      const key = `${way} ${frame}`;
      const known = repetitions.get(key);
      if (change === 'sent' && known !== undefined) drop(known);
      if (change === 'repeated') {
        const original = `${way} ${sent.get(way) ?? frame}`;
        const repetition: Repetition = { keys: [key, original], heardBy: undefined };
        for (const one of repetition.keys) repetitions.set(one, repetition);
      }
      if (change !== 'delivered' || known === undefined) return;
      const life = lives.get(to) ?? 0;
      if (known.heardBy === undefined) {
        known.heardBy = life;
        return;
      }
      if (known.heardBy !== life) hit();
      drop(known);
    },
  };
}

interface Repetition {
  readonly keys: readonly string[];
  /** The life of the receiver to which it came first. */
  heardBy: number | undefined;
}

function isTimer(type: TurnFact['event']['type']): boolean {
  return type.startsWith('xstate.after');
}

function keyOf(fields: Readonly<Record<string, unknown>>): string {
  return `${String(fields.jobId)}@${String(fields.datacenter)}`;
}

/** `job/j1@A` as `j1@A`. */
function keyOfAddress(address: string): string {
  return address.slice(address.indexOf('/') + 1);
}
