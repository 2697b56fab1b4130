/**
 * Which scenarios of test/conformance real processes can play, at which pace, and why not the others.
 *
 * The factor is how much faster than its file a scenario is played. It is as great as the least
 * values of the options that matter in it allow: a base deadline of 30 s is 1.5 s at 20, and must
 * not be below 1 s.
 */

export interface PlayedScenario {
  /** Of the file, without `.yaml`. */
  readonly file: string;
  readonly factor: number;
  /** Looked at then, where the file looks at something that passes. At the pace of the file. */
  readonly looksAtMs?: number;
  /** Played by the test of every change; the others by `test/processes/main.ts`. */
  readonly isShort?: boolean;
}

export const PLAYED: readonly PlayedScenario[] = [
  { file: '01-local-overall', factor: 20, isShort: true },
  { file: '02-gate-one-datacenter-stuck', factor: 30, isShort: true },
  { file: '03-extension-lets-a-job-finish', factor: 20, isShort: true },
  { file: '04-extension-then-overall', factor: 20 },
  { file: '05-stuck-though-worker-alive', factor: 20 },
  { file: '06-leader-lost-deadline-kept', factor: 30, isShort: true },
  { file: '08-completion-leaves-nothing', factor: 20 },
  { file: '09-cancel', factor: 20, isShort: true },
  { file: '10-dead-workers-extension-removed', factor: 10 },
  { file: '11-gate-gone-fallback', factor: 40 },
  { file: '12-all-datacenters-report-no-progress', factor: 30, isShort: true },
  { file: '13-overall-report-deferred', factor: 20 },
  { file: '14-extension-limits', factor: 20 },
  { file: '15-worker-lost-work-retried', factor: 10, isShort: true },
  { file: '16-failing-workflow-and-dependents', factor: 10, isShort: true },
  { file: '17-worker-restarted', factor: 15 },
  { file: '18-takeover-after-the-deadline', factor: 30, isShort: true },
  { file: '19-progress-seen-after-takeover', factor: 20 },
  { file: '20-grace-after-takeover', factor: 20 },
  { file: '24-live-gate-no-fallback', factor: 30 },
  { file: '25-deferral-without-own-credit', factor: 20 },
  { file: '26-credit-of-the-finished', factor: 20 },
  { file: '29-handler-ignores-cancel', factor: 10 },
  { file: '31-queued-is-not-stuck', factor: 30 },
  { file: '32-queued-counts-when-asked', factor: 30 },
  { file: '33-fail-fast', factor: 20 },
  { file: '34-stuck-threshold-of-the-job', factor: 20, isShort: true },
  { file: '35-cut-off-for-good', factor: 50 },
  { file: '36-operator-extends', factor: 20, isShort: true },
  { file: '38-credit-is-capped', factor: 5 },
  { file: '39-malformed-request', factor: 20 },
  { file: '40-same-submission-twice', factor: 20 },
  { file: 'S6-progress-that-is-no-number', factor: 20 },
  { file: 'S7-least-grant', factor: 15 },
  { file: 'S8-two-grants', factor: 15 },
  { file: 'S9-max-of-two-workers', factor: 10 },
  { file: 'S9-sum-of-two-workers', factor: 10 },
  { file: 'S10-two-jobs-on-one-worker', factor: 10 },
  { file: 'S13-progress-of-one-counts-for-all', factor: 30 },
  { file: 'S15-majority', factor: 30 },
  { file: 'S22-acknowledged-reports-put-the-fallback-off', factor: 40 },
  { file: 'S23-takeover-keeps-the-fallback', factor: 40 },
  { file: 'S24-gate-down-without-need', factor: 60 },
  { file: 'S28-progress-in-the-time-without-a-leader', factor: 20 },
  { file: 'S29-grace-of-a-new-leader', factor: 20 },
  { file: 'S30-heard-again-in-time', factor: 20 },
  { file: 'S30-suspect-meanwhile', factor: 15, looksAtMs: 48_000 },
  { file: 'S31-late-result-of-a-lost-worker', factor: 20 },
  { file: 'S37-leader-within-the-grace', factor: 10 },
  { file: 'S39-no-worker', factor: 300 },
  { file: 'S40-failed-among-the-ends', factor: 20, isShort: true },
  { file: 'S40-timed-out-among-the-ends', factor: 30 },
  { file: 'S43-another-body', factor: 20 },
  { file: 'S45-cancelled-through-the-gate', factor: 20, isShort: true },
  { file: 'S46-frozen-leader', factor: 5 },
  { file: 'S51-queued-is-no-lack-of-progress', factor: 60 },
  { file: 'S52-lost-without-a-leader', factor: 15 },
];

const MESSAGES = 'a proxy carries bytes and cannot lose, repeat or hold one message';
const FORGED = 'a message from somebody who is not there is refused at the socket';
const REFUSED = 'a worker refuses a dispatch only while it has no room, which it says before';
const MOMENT = 'what it is about takes less time than a process needs to be scheduled';

/** By file, without `.yaml`. */
export const LEFT_OUT: Readonly<Record<string, string>> = {
  '07-stale-decision-refused': FORGED,
  '10.7.6-decision-refused-and-made-anew': FORGED,
  '21-decision-delivered-twice': MESSAGES,
  '22-report-lost-three-times': MESSAGES,
  '23-broadcast-lost-to-one': MESSAGES,
  '27-completed-before-the-decision': MESSAGES,
  '28-completed-everywhere-before-the-decision': MESSAGES,
  '30-dispatch-exhausted': REFUSED,
  '37-skewed-successor': 'processes of one machine have one clock',
  'H-held-up-submission-never-begins':
    'the limits of its gate, which decide it, are played faster than a process starts',
  'S1-result-in-the-last-moment': MOMENT,
  'S2-result-too-late': MESSAGES,
  'S3-forty-days': 'forty days that are played faster are no forty days',
  'S5-denied-without-progress': MESSAGES,
  'S5-evicted-after-the-grace': MESSAGES,
  'S19-three-reports-one-decision':
    'the reports cross the decision only where a message takes as long as in the file',
  'S25-completed-as-the-time-ran-out': MOMENT,
  'S27-decision-three-times': MESSAGES,
  'S32-operation-ended': MOMENT,
  'S32-suspect-by-the-base': MOMENT,
  'S33-success-before-the-ack': MESSAGES,
  'S35-cancelled-while-waiting-to-dispatch': REFUSED,
  'S42-extension-heard-in-time': MOMENT,
  'S42-extension-heard-too-late': MESSAGES,
};
