/**
 * Commands of the page and their outcomes: `POST api/command`, off unless the source allows them.
 *
 * Each one is checked against the fence and stands in the history of its actor with who asked. `taken`: the
 * machine took it. `ignored`: it was durable and moved nothing, because no state had a transition for it.
 * `refused`: it was not taken, and `why` says what to do.
 */

export type Command =
  | {
      readonly type: 'send';
      readonly address: string;
      readonly event: { readonly type: string; readonly [field: string]: unknown };
    }
  | {
      readonly type: 'ask';
      readonly address: string;
      readonly event: { readonly type: string; readonly [field: string]: unknown };
      readonly timeoutMs?: number;
    }
  /** More time for a job, or for an attempt of a map-reduce run. */
  | {
      readonly type: 'extend';
      readonly address: string;
      readonly byMs: number;
      readonly reason: string;
    }
  | { readonly type: 'cancel'; readonly address: string; readonly reason: string }
  /** What a human says to a question of a run: an option, or any text where there are none. */
  | {
      readonly type: 'answer';
      readonly question: string;
      readonly answer: string;
      readonly texts?: readonly string[];
      readonly limitMs?: number;
    }
  /** Another due time of an armed deadline; in test environments alone. */
  | {
      readonly type: 'changeDeadline';
      readonly address: string;
      readonly deadline: string;
      readonly dueAt: number;
    }
  /** Lets a deadline come now; in test environments alone. */
  | { readonly type: 'fireNow'; readonly address: string; readonly deadline: string }
  | { readonly type: 'retryLetter'; readonly id: string; readonly node: string }
  | { readonly type: 'dropLetter'; readonly id: string; readonly node: string }
  | { readonly type: 'revive'; readonly address: string }
  | { readonly type: 'end'; readonly address: string }
  /** Keeps contexts of actors or kinds for a while; `forMs` ends it by itself. */
  | {
      readonly type: 'record';
      readonly addresses?: readonly string[];
      readonly kinds?: readonly string[];
      readonly forMs: number;
    }
  | { readonly type: 'stopRecording' }
  /** A fault of the demo, by its name. */
  | { readonly type: 'fault'; readonly name: string };

export interface CommandAnswer {
  readonly at: number;
  readonly outcome: 'taken' | 'ignored' | 'refused';
  /** Sentence for people. */
  readonly why: string;
  /** Code of docs/errors.md, of a refusal. */
  readonly code?: string;
  /** True when the same command may be taken later. */
  readonly isRetryable?: boolean;
  /** Answer to an `ask`. */
  readonly reply?: unknown;
  /** State afterwards. */
  readonly state?: string;
  /** Turn that took it. */
  readonly turn?: number;
}
