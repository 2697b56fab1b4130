/**
 * Summary of a run of the demo, for machines and for people.
 */

import { counted, printable } from '../cli/render/output.ts';
import type { Fault } from './faults.ts';
import { seconds, shortTime } from './happenings.ts';
import type { JobBook, KindCount, WrongJob } from './job-book.ts';

export interface Summary {
  /** False: a job ended wrongly, or did not end, or a node died by itself. */
  readonly ok: boolean;
  readonly seed: number;
  readonly run: number;
  /** Time for which jobs were submitted. */
  readonly durationMs: number;
  readonly jobs: {
    readonly submitted: number;
    readonly resumed: number;
    readonly ended: number;
    readonly open: number;
    readonly completed: number;
    readonly failed: number;
    readonly timedOut: number;
    readonly cancelled: number;
  };
  readonly kinds: Readonly<Record<string, KindCount>>;
  readonly wrong: readonly WrongJob[];
  readonly faults: ReadonlyArray<{
    readonly atMs: number;
    readonly kind: string;
    readonly target: string;
    readonly lengthMs: number | null;
  }>;
  /** Times from the death of a leader to the next one. */
  readonly takeoverMs: readonly number[];
  /** Time after its deadline at which a job ended whose time was used up, at most. */
  readonly latestMs: number;
  readonly unexpectedExits: readonly UnexpectedExit[];
}

export interface UnexpectedExit {
  readonly node: string;
  readonly how: string;
  readonly complaint: string;
}

export interface SummaryParts {
  readonly seed: number;
  readonly run: number;
  /** Milliseconds since 1970; undefined when it did not come to that. */
  readonly startedAt: number | undefined;
  readonly finishedAt: number;
  readonly book: JobBook;
  readonly faults: readonly Fault[];
  readonly takeoversMs: readonly number[];
  readonly unexpectedExits: readonly UnexpectedExit[];
}

export function summaryOf(parts: SummaryParts): Summary {
  const { seed, run, finishedAt, book, faults, takeoversMs, unexpectedExits } = parts;
  const startedAt = parts.startedAt ?? finishedAt;
  return {
    ok: book.wrong.length === 0 && unexpectedExits.length === 0,
    seed,
    run,
    durationMs: finishedAt - startedAt,
    jobs: {
      submitted: book.submitted,
      resumed: book.resumed,
      ended: book.ended,
      open: book.open.size,
      ...book.outcomes,
    },
    kinds: Object.fromEntries(book.kinds),
    wrong: book.wrong,
    faults: faults.map(({ at, endedAt, kind, target }) => ({
      atMs: at - startedAt,
      kind,
      target,
      lengthMs: endedAt === undefined ? null : endedAt - at,
    })),
    takeoverMs: takeoversMs,
    latestMs: book.latestMs,
    unexpectedExits,
  };
}

const SHOWN_MAX = 20;

export function summaryLines(summary: Summary): string[] {
  const { jobs, faults, takeoverMs, wrong, unexpectedExits, durationMs, seed, run } = summary;
  const { submitted, resumed, completed, failed, timedOut, cancelled, open } = jobs;
  const before = resumed === 0 ? '' : `, and ${resumed} went on from an earlier run`;
  const lines = [
    `Run ${run}, seed ${seed}: ${submitted} jobs in ${seconds(durationMs)}${before}.`,
    `  ended      ${completed} completed, ${failed} failed, ${timedOut} timed out, ${cancelled} cancelled`,
    `  faults     ${faults.length === 0 ? 'none' : countKinds(faults)}`,
  ];
  if (takeoverMs.length > 0)
    lines.push(`  takeovers  ${takeoverMs.map(shortTime).join(', ')} after the leader died`);
  if (open > 0) lines.push(`  open       ${open}: the next start goes on with them`);
  lines.push(
    `  wrong      ${wrong.length === 0 ? 'none: every job ended as it had to' : wrong.length}`,
  );
  for (const { jobId, what } of wrong.slice(0, SHOWN_MAX))
    lines.push(`    ${printable(jobId)} ${printable(what)}`);
  for (const { node, how, complaint } of unexpectedExits.slice(0, SHOWN_MAX))
    lines.push(`    ${node} ended by itself: ${how} ${printable(complaint)}`.trimEnd());
  return lines;
}

/** One of them, and many. */
const FAULTS_IN_WORDS: Readonly<Record<string, readonly [string, string]>> = {
  workerPaused: ['worker paused', 'workers paused'],
  managerKilled: ['leader killed', 'leaders killed'],
  gateRestarted: ['restart of the gate', 'restarts of the gate'],
  partition: ['partition', 'partitions'],
};

function countKinds(faults: Summary['faults']): string {
  const counts = new Map<string, number>();
  for (const { kind } of faults) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const texts = Array.from(counts, ([kind, count]) =>
    counted(count, ...(FAULTS_IN_WORDS[kind] ?? ([kind, kind] as const))),
  );
  return texts.join(', ');
}
