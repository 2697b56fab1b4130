/**
 * Failures harm nothing but themselves: turns of machines, and whatever code of users a node calls.
 */

import type { HistoryRecord } from '../history.ts';
import type { Invariant, Verdict, Watcher } from './invariant.ts';
import type { TurnRecord } from './reading-lines.ts';

type RecordOf<TType> = Extract<HistoryRecord, { readonly type: TType }>;

/** RT-2. Trouble stays with its cause, and is kept or told with its reason. */
export const failuresStayAlone: Invariant = {
  id: 'RT-2',
  kind: 'safety',
  says: 'A turn that fails leaves its event among the undelivered messages, with the error; an observer that throws is reported in the log; neither they nor a handler that throws end the node.',
  watch: (_, verdict) => new Failures(verdict).watcher(),
};

class Failures {
  readonly #verdict: Verdict;
  /** A turn whose event has to be kept before anything else is durable. */
  #failed: TurnRecord | undefined;
  /** An observer that threw, of which the next line of its node tells. */
  #thrown: Thrown | undefined;
  /** What code of users threw last, by node. */
  readonly #lastThrown = new Map<string, string>();

  constructor(verdict: Verdict) {
    this.#verdict = verdict;
  }

  watcher(): Watcher {
    const close = (): void => this.#close();
    return {
      turn: (record) => this.#turn(record),
      undelivered: (record) => this.#undelivered(record),
      fault: (record) => this.#fault(record),
      work: (record) => this.#work(record),
      log: (record) => this.#log(record),
      commit: close,
      node: close,
      end: close,
    };
  }

  #turn(record: TurnRecord): void {
    this.#close();
    if (record.error === undefined) return;
    this.#verdict.exercised();
    this.#failed = record;
  }

  #undelivered({ to, node, event }: RecordOf<'undelivered'>): void {
    const failed = this.#failed;
    if (failed?.address === to && failed.node === node && failed.event.type === event.type)
      this.#failed = undefined;
  }

  #fault(record: RecordOf<'fault'>): void {
    this.#close();
    if (record.kind !== 'throwingOnlookers' || record.change !== 'hit') return;
    this.#verdict.exercised();
    const { node, error } = record.about as { readonly node: string; readonly error: string };
    this.#thrown = { node, error, record };
    this.#lastThrown.set(node, error);
  }

  #work({ change, node, about }: RecordOf<'work'>): void {
    if (change !== 'threw') return;
    this.#verdict.exercised();
    this.#lastThrown.set(node, String(about));
  }

  #log(record: RecordOf<'log'>): void {
    const { node, message, fields } = record;
    const thrown = this.#thrown;
    if (thrown?.node === node && thrown.error === fields.error) this.#thrown = undefined;
    if (message === 'the process ends' && fields.error === this.#lastThrown.get(node))
      this.#verdict.broken(`${node} has ended because of what it called: ${fields.error}`, record);
  }

  #close(): void {
    const failed = this.#failed;
    const thrown = this.#thrown;
    this.#failed = undefined;
    this.#thrown = undefined;
    if (failed !== undefined)
      this.#verdict.broken(
        `${failed.event.type} failed in ${failed.address} and is not kept.`,
        failed,
      );
    if (thrown !== undefined)
      this.#verdict.broken(`Nobody was told of "${thrown.error}"`, thrown.record);
  }
}

interface Thrown {
  readonly node: string;
  readonly error: string;
  readonly record: RecordOf<'fault'>;
}
