/**
 * A machine with every sort of work that goes on outside of a turn: a promise, a callback, a
 * durable and a plain action. The test holds the ends of all of it.
 *
 *   idle ─job.begin─▶ making ─promise─▶ made
 *                       │ job.abandon
 *                       ▼
 *                     idle            and in every state: job.charge, job.print
 */

import { assign, fromCallback, fromPromise, setup } from 'xstate';
import type { PerformerCall } from '../../runtime/actor/kind.ts';
import { RecoveryNodes } from './recovery-nodes.ts';

interface Job {
  readonly job: string;
}

/** One start of a promise. */
interface Run {
  readonly input: Job;
  readonly signal: AbortSignal;
  finish(output: string): void;
  fail(error: Error): void;
}

/** One call of a performer. */
interface Call {
  readonly effectId: string;
  readonly attempt: number;
  readonly params: unknown;
  /** For the durable one, which waits for it. */
  finish(): void;
}

export type WorkshopEvent =
  | { type: 'job.begin'; job: string }
  | { type: 'job.abandon' }
  | { type: 'job.charge'; amount: number }
  | { type: 'job.print' }
  | { type: 'bell.rang'; number: number };

export class Workshop {
  /** Told of everything that begins, at once. */
  tell: (what: string, fields: object) => void = () => {};
  readonly runs: Run[] = [];
  readonly charged: Call[] = [];
  readonly printed: Call[] = [];
  /** One entry for each bell that was hung up; ringing it reaches its actor while it hangs. */
  readonly bells: Array<{ readonly ring: (number: number) => void; isTaken: boolean }> = [];

  readonly #make = fromPromise<string, Job>(
    ({ input, signal }) =>
      new Promise((finish, fail) => {
        this.runs.push({ input, signal, finish, fail });
        this.tell('run', input);
      }),
  );

  readonly #watch = fromCallback(({ sendBack }) => {
    const ring = (number: number) => sendBack({ type: 'bell.rang', number });
    const bell = { ring, isTaken: false };
    this.bells.push(bell);
    return () => {
      bell.isTaken = true;
    };
  });

  readonly machine = setup({
    types: {
      context: {} as { job: string; made: string[]; heard: number[] },
      events: {} as WorkshopEvent,
    },
    actors: { make: this.#make, watch: this.#watch },
    actions: { charge: (_, _params: { amount: number }) => {}, print: () => {} },
  }).createMachine({
    id: 'workshop',
    context: { job: '', made: [], heard: [] },
    initial: 'idle',
    on: {
      'job.charge': {
        actions: { type: 'charge', params: ({ event }) => ({ amount: event.amount }) },
      },
      'job.print': { actions: 'print' },
    },
    states: {
      idle: {
        on: {
          'job.begin': { target: 'making', actions: assign({ job: ({ event }) => event.job }) },
        },
      },
      making: {
        invoke: [
          {
            src: 'make',
            input: ({ context }) => ({ job: context.job }),
            onDone: {
              target: 'made',
              actions: assign({ made: ({ context, event }) => [...context.made, event.output] }),
            },
            onError: 'idle',
          },
          { src: 'watch' },
        ],
        on: {
          'job.abandon': 'idle',
          'bell.rang': {
            actions: assign({ heard: ({ context, event }) => [...context.heard, event.number] }),
          },
        },
      },
      made: {},
    },
  });

  readonly options = {
    perform: {
      charge: {
        durable: true as const,
        run: ({ effectId, attempt, params }: PerformerCall) =>
          new Promise<void>((finish) => {
            this.charged.push({ effectId, attempt, params, finish });
            this.tell('charge', { effectId });
          }),
      },
      print: ({ effectId, attempt, params }: PerformerCall) => {
        this.printed.push({ effectId, attempt, params, finish() {} });
        this.tell('print', { effectId });
      },
    },
  };
}

/** One actor in a workshop, on a node that can die. */
export async function startWorkshop() {
  const shop = new Workshop();
  const nodes = new RecoveryNodes();
  const node = await nodes.start({
    kinds: { workshop: shop.machine },
    options: { workshop: shop.options },
  });
  await nodes.during(node.rt.spawn('workshop/1'));
  const send = (event: WorkshopEvent) => nodes.during(node.rt.actor('workshop/1').send(event));
  const snapshot = () => node.rt.actor('workshop/1').getSnapshot();
  const record = () => JSON.parse(node.store.load('workshop/1@node') ?? 'null');
  return { shop, nodes, node, send, snapshot, record };
}
