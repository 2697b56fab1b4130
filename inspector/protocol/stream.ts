/**
 * Frames of the one stream that goes down to a page: server-sent events, each `data:` one JSON of `Frame`.
 *
 * `GET api/stream` opens it and nothing can be said on it: its first frame has an id, and `POST api/watch` with
 * that id sets what it tells, whole, each time. A page that watches nothing hears `tick` once a second. Each
 * frame has `at`, the server's time, from which the page takes its offset. The server keeps a bounded number of
 * bytes for a slow page: what does not fit is left out and told by `skipped`; what is shown then is asked for
 * again. Lists and details are values, not differences: a later frame replaces an earlier one.
 */

import type { ActorDetail, ActorLine, Deadline, MessageLine, TurnLine } from './actors.ts';
import type { ActorsQuery, Hello, LinkLine, NodeLine, Overview } from './queries.ts';

/** Sets what a stream tells; what is not named is not told. */
export interface Watch {
  /** Id of the stream's first frame. */
  readonly stream: string;
  /** Window of the overview, as in `api/overview`. */
  readonly overview?: string;
  /** Lists on the screen, by a name that the page chooses: the first `limit` rows of each. */
  readonly lists?: Readonly<Record<string, ActorsQuery>>;
  /** Actors in detail, with context; at most 20. */
  readonly actors?: readonly string[];
  /** Actors whose turns and messages are told; at most 200. */
  readonly turns?: readonly string[];
}

export type Frame = { readonly at: number } & (
  | { readonly type: 'opened'; readonly stream: string; readonly hello: Hello }
  | { readonly type: 'tick' }
  | { readonly type: 'overview'; readonly overview: Overview }
  /**
   * Rows of a watched list that are new or have changed, and those that left its first page. `order` has the
   * addresses of the page as it is now; a row that stands in it and was never told is asked for by a query.
   */
  | {
      readonly type: 'list';
      readonly list: string;
      readonly changed: readonly ActorLine[];
      readonly gone: readonly string[];
      readonly order: readonly string[];
    }
  | { readonly type: 'actor'; readonly address: string; readonly actor: ActorDetail | null }
  | { readonly type: 'turns'; readonly turns: readonly TurnLine[] }
  | { readonly type: 'messages'; readonly messages: readonly MessageLine[] }
  | { readonly type: 'timers'; readonly address: string; readonly deadlines: readonly Deadline[] }
  | {
      readonly type: 'links';
      readonly links: readonly LinkLine[];
      readonly nodes: readonly NodeLine[];
    }
  /** Frames that this page was too slow for, by their type. */
  | { readonly type: 'skipped'; readonly count: number; readonly of: string }
  /** Another version of a kind is registered: ask for its definition. */
  | { readonly type: 'definition'; readonly kind: string; readonly hash: string }
  /** The source says no more; the stream ends after it. `retry` is false when asking again is no use. */
  | { readonly type: 'closing'; readonly why: string; readonly retry: boolean }
);
