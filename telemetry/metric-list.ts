/**
 * List of the metrics as others know them: name, unit, and the place of the number in a snapshot.
 *
 * One list for every exporter and for docs/telemetry.md, so that a number is called the
 * same wherever it turns up. Names follow Prometheus: unit last, `_total` for counters.
 */

import type { HistogramSnapshot } from '../runtime/base/histogram.ts';
import type { MetricsSnapshot } from '../runtime/base/metrics.ts';

interface Named {
  readonly name: string;
  /** One sentence, for a reader who meets the number on a screen. */
  readonly help: string;
  /** Unit as UCUM writes it: `ms`, or what is counted in braces; empty for a plain number. */
  readonly unit: string;
}

export interface NumberMetric extends Named {
  readonly type: 'counter' | 'gauge';
  read(snapshot: MetricsSnapshot): number;
  /** Parts of a number that is a sum, by the value of one more label. */
  readonly parts?: {
    readonly label: string;
    read(snapshot: MetricsSnapshot): Readonly<Record<string, number>>;
  };
}

/** The metrics that are histograms, by their field in a snapshot. */
export type HistogramField = {
  [field in keyof MetricsSnapshot]: MetricsSnapshot[field] extends HistogramSnapshot
    ? field
    : never;
}[keyof MetricsSnapshot];

export interface HistogramMetric extends Named {
  readonly type: 'histogram';
  readonly field: HistogramField;
}

export type Metric = NumberMetric | HistogramMetric;

type NumberField = {
  [field in keyof MetricsSnapshot]: MetricsSnapshot[field] extends number ? field : never;
}[keyof MetricsSnapshot];

const counter = (name: string, field: NumberField, unit: string, help: string): NumberMetric => ({
  name,
  type: 'counter',
  unit,
  help,
  read: (snapshot) => snapshot[field],
});

const gauge = (name: string, field: NumberField, unit: string, help: string): NumberMetric => ({
  name,
  type: 'gauge',
  unit,
  help,
  read: (snapshot) => snapshot[field],
});

const histogram = (
  name: string,
  field: HistogramField,
  unit: string,
  help: string,
): HistogramMetric => ({ name, type: 'histogram', unit, help, field });

export const METRICS: readonly Metric[] = [
  counter('escapement_turns_total', 'turns', '{turn}', 'Durable turns, failed ones included.'),
  counter('escapement_turns_failed_total', 'turnsFailed', '{turn}', 'Turns that failed.'),
  counter('escapement_births_total', 'births', '{actor}', 'Actors spawned.'),
  counter('escapement_ends_total', 'ends', '{actor}', 'Actors that were done or were stopped.'),
  counter(
    'escapement_hydrations_total',
    'hydrations',
    '{actor}',
    'Actors read from their records into memory.',
  ),
  counter(
    'escapement_passivations_total',
    'passivations',
    '{actor}',
    'Idle actors let go from memory to make room.',
  ),
  gauge('escapement_live_actors', 'liveActors', '{actor}', 'Actors in memory.'),
  gauge('escapement_ready_actors', 'readyActors', '{actor}', 'Actors with something to take.'),
  gauge('escapement_deadlines', 'deadlines', '{actor}', 'Actors with a deadline ahead.'),
  counter(
    'escapement_messages_received_total',
    'messagesReceived',
    '{message}',
    'Messages from other nodes for actors of this place, hints included.',
  ),
  counter(
    'escapement_messages_sent_total',
    'messagesSent',
    '{message}',
    'Messages handed to the transport, each time they were.',
  ),
  counter(
    'escapement_messages_resent_total',
    'messagesResent',
    '{message}',
    'Messages taken back to be sent again.',
  ),
  counter(
    'escapement_duplicates_refused_total',
    'duplicatesRefused',
    '{message}',
    'Messages that had been taken before.',
  ),
  counter(
    'escapement_frames_malformed_total',
    'framesMalformed',
    '{fault}',
    'What peers sent that is no frame, envelope or receipt, or beyond its bounds.',
  ),
  counter(
    'escapement_peers_overstepped_total',
    'peersOverstepped',
    '{fault}',
    'Times a peer spoke for somebody else.',
  ),
  counter(
    'escapement_peers_expelled_total',
    'peersExpelled',
    '{peer}',
    'Peers sent away because they were malformed too often or spoke for somebody else.',
  ),
  counter(
    'escapement_hints_left_out_total',
    'hintsLeftOut',
    '{message}',
    'Messages without guarantee left out because their receiver takes frames too slowly.',
  ),
  {
    name: 'escapement_messages_refused_total',
    type: 'counter',
    unit: '{message}',
    help: 'Messages that no turn took, by the code their sender was told.',
    read: ({ messagesRefused }) =>
      Object.values(messagesRefused).reduce((sum, count) => sum + count, 0),
    parts: { label: 'code', read: ({ messagesRefused }) => messagesRefused },
  },
  counter(
    'escapement_undelivered_total',
    'undelivered',
    '{message}',
    'Events, messages and effects put among the undelivered ones.',
  ),
  gauge(
    'escapement_messages_under_way',
    'messagesUnderWay',
    '{message}',
    'Messages sent and not yet answered.',
  ),
  counter('escapement_timers_fired_total', 'timersFired', '{timer}', 'Deadlines that fired.'),
  histogram(
    'escapement_timer_lateness_milliseconds',
    'timerLatenessMs',
    'ms',
    'From the moment a deadline was due to the turn that took it.',
  ),
  gauge(
    'escapement_lateness_milliseconds',
    'latenessMs',
    'ms',
    'By how much deadlines are late now: the latest of the last seconds, or one that still waits.',
  ),
  counter(
    'escapement_commits_total',
    'commits',
    '{group}',
    'Groups settled by the store, refused ones included.',
  ),
  counter(
    'escapement_commits_refused_total',
    'commitsRefused',
    '{group}',
    'Groups that the store refused.',
  ),
  histogram(
    'escapement_commit_duration_milliseconds',
    'commitDurationMs',
    'ms',
    'From handing a group to the store until it was settled.',
  ),
  histogram('escapement_group_turns', 'groupTurns', '{turn}', 'Turns committed together.'),
  histogram('escapement_group_records', 'groupRecords', '{record}', 'Records written together.'),
  gauge('escapement_performers_busy', 'performersBusy', '{performer}', 'Performers at work.'),
  counter(
    'escapement_actions_failed_total',
    'actionsFailed',
    '{action}',
    'Actions that failed after their turn was committed, and are not tried again.',
  ),
  counter(
    'escapement_children_retried_total',
    'childrenRetried',
    '{child}',
    'Failures of promises, callbacks and observables after which another run was planned.',
  ),
  gauge(
    'escapement_places_silent',
    'placesSilent',
    '{place}',
    'Places that messages wait for and that nobody answers from.',
  ),
  counter(
    'escapement_child_stops_failed_total',
    'childStopsFailed',
    '{child}',
    'Callbacks and observables that threw while they were stopped.',
  ),
  counter(
    'escapement_effects_retried_total',
    'effectsRetried',
    '{effect}',
    'Failures of durable effects after which another try was planned.',
  ),
  counter(
    'escapement_effects_given_up_total',
    'effectsGivenUp',
    '{effect}',
    'Durable effects whose performer failed for the last time.',
  ),
  counter(
    'escapement_questions_asked_total',
    'questionsAsked',
    '{question}',
    'Events answered without a turn, those that came twice included.',
  ),
  counter(
    'escapement_questions_refused_total',
    'questionsRefused',
    '{question}',
    'Questions that were taken, and whose askers were told that there is no answer.',
  ),
  counter(
    'escapement_watches_lost_total',
    'watchesLost',
    '{watch}',
    'Watches of actors of other nodes that ended with an error.',
  ),
  counter(
    'escapement_leases_acquired_total',
    'leasesAcquired',
    '{lease}',
    'Times this node began to host its place.',
  ),
  counter(
    'escapement_leases_lost_total',
    'leasesLost',
    '{lease}',
    'Times this node lost the lease of its place.',
  ),
  {
    name: 'escapement_is_hosting',
    type: 'gauge',
    unit: '',
    help: '1 while this node hosts its place, 0 while it stands by.',
    read: ({ isHosting }) => (isHosting ? 1 : 0),
  },
  gauge(
    'escapement_records_damaged',
    'recordsDamaged',
    '{record}',
    'Records that the store cannot trust; their actors are left alone.',
  ),
  gauge('escapement_fence', 'fence', '', 'Number of the lease the place was hosted under last.'),
];
