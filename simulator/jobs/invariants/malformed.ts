/**
 * Malformed submissions: refused with the field that is wrong, and nothing comes of them.
 *
 * What is malformed is read from the body by the rules of the specification, said a second time. Where a
 * jobs service refuses everybody, because it leads nothing or has no room, it need not look at the body.
 */

import type { HistoryRecord } from '../../history.ts';
import { isWritten } from '../../invariants.ts';
import type { JobsInvariant } from '../facts.ts';

/** TS-9. */
export const malformedIsRefused: JobsInvariant = {
  id: 'TS-9',
  kind: 'safety',
  says: 'A malformed submission is refused as invalid with the field named, and nothing is stored of it; no other one is refused as invalid.',
  watch({ config }, verdict) {
    const open = new Map<string, Asked>();
    // Ids that were never submitted but malformed.
    const wrongIds = new Set<string>();
    const wellFormedIds = new Set<string>();
    return {
      call: ({ call, request, jobId, body }) => {
        if (request !== 'submit') return;
        const wrong = wrongFieldOf(body as Body);
        const isTooLarge = dependenciesOf(body as Body) > config.dependenciesMax;
        open.set(call, { wrong, isTooLarge });
        if (wrong === undefined) wellFormedIds.add(jobId);
        else wrongIds.add(jobId);
      },
      answer: (record) => {
        const asked = open.get(record.call);
        open.delete(record.call);
        if (asked === undefined) return;
        const { wrong } = asked;
        const { reason, field, isTooLarge } = (record.about ?? {}) as Answer;
        // What is too much is refused before all of it has come.
        if (isTooLarge === true && asked.isTooLarge) return;
        if (wrong === undefined) {
          if (reason === 'invalid')
            verdict.broken(`A submission without a mistake was refused for ${field}`, record);
          return;
        }
        if (record.outcome === 'unknown') return;
        verdict.exercised();
        if (record.outcome === 'ok') verdict.broken(`A malformed ${wrong} was accepted`, record);
        else if (reason === 'invalid' && field !== wrong)
          verdict.broken(`A malformed ${wrong} was refused for ${field}`, record);
        else if (reason !== 'invalid' && !REFUSED_UNSEEN.has(reason))
          verdict.broken(
            `A malformed ${wrong} was refused with ${JSON.stringify(record.about)}`,
            record,
          );
      },
      commit: (record: CommitRecord) => {
        if (wrongIds.size === 0 || !isWritten(record)) return;
        for (const { address, record: text } of record.writes) {
          const jobId = OF_A_JOB.exec(address)?.[1] ?? '';
          if (text !== null && wrongIds.has(jobId) && !wellFormedIds.has(jobId))
            verdict.broken(
              `Every submission of ${jobId} was malformed, and there is ${address}`,
              record,
            );
        }
      },
    };
  },
};

type CommitRecord = Extract<HistoryRecord, { readonly type: 'commit' }>;

const OF_A_JOB = /^(?:job|workflow|gate-job|submission-page)\/([^/@]+)/;
const REFUSED_UNSEEN: ReadonlySet<unknown> = new Set(['overloaded', 'notLeader']);

interface Asked {
  /** The field that is. */
  readonly wrong: string | undefined;
  readonly isTooLarge: boolean;
}

interface Answer {
  readonly reason?: unknown;
  readonly field?: unknown;
  readonly isTooLarge?: unknown;
}

interface Body {
  readonly timeoutMs?: unknown;
  readonly failFast?: unknown;
  readonly stuckThresholdMs?: unknown;
  readonly workflows: ReadonlyArray<{
    readonly id?: unknown;
    readonly handler?: unknown;
    readonly cores?: unknown;
    readonly dependsOn?: readonly unknown[];
  }>;
}

const DAY_MS = 86_400_000;
const isId = (value: unknown): boolean =>
  typeof value === 'string' && /^[A-Za-z0-9._:-]{1,128}$/.test(value);
const isWhole = (value: unknown, min: number, max: number): boolean =>
  Number.isInteger(value) && Number(value) >= min && Number(value) <= max;

const dependenciesOf = ({ workflows }: Body): number =>
  workflows.reduce((sum, { dependsOn = [] }) => sum + dependsOn.length, 0);

/** The first field that breaks a rule, as far as plans have such. */
function wrongFieldOf({
  timeoutMs,
  failFast,
  stuckThresholdMs,
  workflows,
}: Body): string | undefined {
  if (!isWhole(timeoutMs, 1, 60 * DAY_MS)) return 'timeoutMs';
  if (stuckThresholdMs !== undefined && !isWhole(stuckThresholdMs, 1_000, 60 * DAY_MS))
    return 'stuckThresholdMs';
  if (failFast !== undefined && typeof failFast !== 'boolean') return 'failFast';
  if (workflows.length === 0) return 'workflows';
  const ids = workflows.map(({ id }) => id);
  for (const [index, { id, handler, cores = 1 }] of workflows.entries()) {
    if (!isId(id)) return `workflows[${index}].id`;
    if (!isId(handler)) return `workflows[${index}].handler`;
    if (!isWhole(cores, 1, 1_024)) return `workflows[${index}].cores`;
  }
  for (const [index, { id }] of workflows.entries())
    if (ids.indexOf(id) < index) return `workflows[${index}].id`;
  for (const [index, { dependsOn = [] }] of workflows.entries())
    if (dependsOn.some((parent) => !ids.includes(parent))) return `workflows[${index}].dependsOn`;
  return undefined;
}
