/**
 * Queries of the page and their answers: everything is a GET below `api/`, with what it asks for in the URL.
 *
 * Addresses are relative to where the page is mounted, so that it works under any path. Each answer has `at`,
 * the server's time. Answers about a cluster name the nodes that were asked and did not answer. Lists come in
 * pages: the `cursor` of one page asks for the next, of the same query. An error is `{ error: { code, message } }`
 * with its HTTP status. Numbers, durations (`90s`, `1h30m`) and flags (`1`) are text in the URL.
 *
 * | GET                | parameters                                             | answer              |
 * | ------------------ | ------------------------------------------------------ | ------------------- |
 * | `api/hello`        |                                                        | Hello               |
 * | `api/overview`     | `window=5m`                                            | Overview            |
 * | `api/actors`       | ActorsQuery                                            | ActorsPage          |
 * | `api/actor`        | `address`                                              | ActorAnswer         |
 * | `api/can`          | `address`, `event` (JSON)                              | CanAnswer           |
 * | `api/definition`   | `kind`, `version?`, `hash?`                            | KindDefinition      |
 * | `api/fleet`        | `kind`, `window=5m`, `1h`, `24h`                       | FleetView           |
 * | `api/turns`        | `address`, `before?` (turn), `limit?`                  | TurnsPage           |
 * | `api/why`          | `address`                                              | WhyAnswer           |
 * | `api/timeline`     | `address` (repeated) or ActorsQuery, `from?`, `to?`, `run=other?` | TimelineAnswer |
 * | `api/messages`     | `address` (repeated), `from?`, `to?`, `limit?`         | MessagesAnswer      |
 * | `api/timeouts`     | `window=1h`                                            | TimeoutsView        |
 * | `api/runs`         |                                                        | RunsView (runs.ts)  |
 * | `api/undelivered`  | `limit?`, `cursor?`                                    | UndeliveredPage     |
 * | `api/failure`      |                                                        | FailureAnswer       |
 * | `api/told`         | `text?`, `first?`, `limit?`, `around?` (moment), `run=other?` | ToldPage     |
 * | `api/recording`    | `address?` (repeated), `format=jsonl` `perfetto` `otlp` | a file              |
 * | `api/test`         | `address`, `turn?`                                     | a file (vitest)     |
 * | `api/stream`       |                                                        | frames, see stream.ts |
 *
 * | POST               | body                                                   | answer              |
 * | ------------------ | ------------------------------------------------------ | ------------------- |
 * | `api/watch`        | Watch (stream.ts)                                      | 204                 |
 * | `api/command`      | Command (commands.ts)                                  | CommandAnswer       |
 *
 * A POST has `Content-Type: application/json` and comes from the page's own origin.
 */

import type { ActorDetail, ActorLine, ActorStatus, WaitingSort } from './actors.ts';

/** Version of everything in this folder. Fields are added within it; a page refuses a greater one. */
export const PROTOCOL_VERSION = 1;

/** Something that the source can do, or the reason why not, to be shown where it would stand. */
export type Capability = { readonly can: true } | { readonly can: false; readonly why: string };

export type CapabilityName =
  | 'live'
  | 'contexts'
  | 'commands'
  | 'send'
  | 'ask'
  | 'extend'
  | 'changeDeadline'
  | 'fireNow'
  | 'cancel'
  | 'runs'
  | 'answer'
  | 'letters'
  | 'lifecycle'
  | 'record'
  | 'copyTest'
  | 'cluster'
  | 'faults'
  | 'tour';

/** Sort of place where the data comes from. */
export type SourceSort = 'live' | 'directory' | 'recording' | 'plan';

export interface Hello {
  readonly protocol: number;
  /** Version of the package. */
  readonly version: string;
  readonly at: number;
  readonly source: SourceSort;
  /** What was opened: a node, a directory, a file. */
  readonly title: string;
  readonly node: string;
  readonly place: string;
  /** Role of the node: `manager`, `gate`, `worker`, `node`; absent when embedded. */
  readonly role?: string;
  readonly capabilities: Readonly<Record<CapabilityName, Capability>>;
  /** View on which the page opens, such as `#/actors`; default the overview. */
  readonly start?: string;
  /** Range of a source at rest; absent for a live one. */
  readonly range?: { readonly from: number; readonly to: number };
  /** Moment from which a simulated run counts its time: moments are shown as the time since. */
  readonly zero?: number;
  /** Invariant that broke in what was recorded: the page has a panel for it. */
  readonly failure?: string;
}

/** Nodes of which an answer misses its part, and why. */
export type Missing = ReadonlyArray<{ readonly node: string; readonly why: string }>;

/** Counts in equal steps up to now: `values[last]` is the step that has just passed. */
export interface Series {
  readonly stepMs: number;
  readonly values: readonly number[];
}

export interface KindLine {
  readonly kind: string;
  readonly version: number;
  readonly definition?: string;
  /** Actors by state value as text, the largest first; those beyond the limit are together in `more`. */
  readonly states: ReadonlyArray<{ readonly state: string; readonly count: number }>;
  readonly more: number;
  readonly active: number;
  readonly ended: number;
}

export interface NodeLine {
  readonly node: string;
  readonly place: string;
  readonly role?: string;
  readonly isHosting: boolean;
  readonly fence: number;
  /** `lost`: it was there before and its link is down; `refused`: it does not let this node ask. */
  readonly health: 'up' | 'lost' | 'refused' | 'silent';
  readonly why?: string;
  readonly latenessMs?: number;
  readonly actorsInMemory?: number;
}

export interface LinkLine {
  readonly from: string;
  readonly to: string;
  readonly isUp: boolean;
  readonly since?: number;
}

export interface Attention {
  readonly sort:
    | 'overdue'
    | 'stuck'
    | 'failed'
    | 'stopped'
    | 'undelivered'
    | 'silentPlace'
    | 'question'
    | 'damaged';
  readonly count: number;
  /** True when there are more than were counted. */
  readonly isAtLeast: boolean;
  /** Query string of the list behind the number; empty where there is none. */
  readonly list: string;
  readonly text: string;
}

export interface Overview {
  readonly at: number;
  readonly windowMs: number;
  readonly kinds: readonly KindLine[];
  readonly rates: {
    readonly births: Series;
    readonly ends: Series;
    readonly turns: Series;
    readonly failed: Series;
    readonly timeouts: Series;
    readonly messages: Series;
  };
  readonly nodes: readonly NodeLine[];
  readonly links: readonly LinkLine[];
  /** Messages that wait for a place, by place. */
  readonly backlog: ReadonlyArray<{
    readonly place: string;
    readonly count: number;
    readonly isSilent: boolean;
  }>;
  readonly attention: readonly Attention[];
  /** Next deadlines of the fleet. */
  readonly soonest: ReadonlyArray<{
    readonly address: string;
    readonly state: string;
    readonly dueAt: number;
  }>;
  readonly undelivered: number;
  readonly missing: Missing;
}

/** Parameters of a list of actors; all are optional, and together they narrow. */
export interface ActorsQuery {
  /** Part of the address. */
  readonly text?: string;
  /** `1`: those alone that have something under way, such as a message that nobody acknowledged yet. */
  readonly pending?: string;
  readonly kind?: string;
  readonly state?: string;
  readonly tag?: string;
  readonly place?: string;
  readonly node?: string;
  readonly status?: ActorStatus;
  /** Duration within which the next deadline is due; `0s`: overdue. */
  readonly dueWithin?: string;
  /** Duration for which no event was taken. */
  readonly stuckFor?: string;
  readonly waitingFor?: WaitingSort;
  readonly extensionsMin?: string;
  readonly failed?: '1';
  /** Default `address`. */
  readonly sort?: 'address' | 'deadline' | 'state' | 'turnAt';
  readonly order?: 'asc' | 'desc';
  readonly limit?: string;
  readonly cursor?: string;
}

export interface ActorsPage {
  readonly at: number;
  readonly rows: readonly ActorLine[];
  /** Ask with it for the next page; there may be more even after an empty page. */
  readonly cursor?: string;
  /** How many there are in all, where the index knows without looking at each. */
  readonly total?: number;
  /** True when a sort holds only among the first rows looked at; `why` says how many. */
  readonly isPartial?: { readonly why: string };
  readonly missing: Missing;
}

export interface ActorAnswer {
  readonly at: number;
  /** Absent when there is no such actor, or it was forgotten. */
  readonly actor?: ActorDetail;
  readonly why?: string;
}

export interface CanAnswer {
  readonly at: number;
  readonly isTaken: boolean;
  /** State value as text it would be in. */
  readonly state?: string;
  readonly transitions: readonly string[];
  readonly why: string;
}
