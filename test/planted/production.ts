/**
 * Bugs of the section "A month in production" of docs/track-record.md, put back, and their kin.
 */

import type { Plant } from './plant.ts';

export const productionPlants: readonly Plant[] = [
  {
    id: 'P100',
    area: 'runtime',
    says: 'A message within a node is sent a second time when the node takes over its place.',
    edits: [
      {
        file: 'runtime/delivery/delivery.ts',
        find: 'return isHere && this.#services.isHosting() ? underWay : 0;',
        replace: 'return underWay < 0 && isHere ? underWay : 0;',
      },
    ],
    plan: '8-MS-2.json',
  },
  {
    id: 'P101',
    area: 'extensions',
    says: 'Answers to requests for extensions are kept for a worker as a whole: many requests push out the answer to one that comes again.',
    edits: [
      {
        file: 'machines/jobs/worker-health/grants.ts',
        find: 'const isOver = ({ operationId: id }: GivenAnswer) => id === undefined || !operations.has(id);',
        replace: 'const isOver = (_: GivenAnswer) => operations !== undefined;',
      },
    ],
    suite: 'test/jobs/machines/worker-health-answers.test.ts',
  },
  {
    id: 'P320',
    area: 'extensions',
    says: 'A copy of a request for an extension that comes after later ones of its run is decided again.',
    edits: [
      {
        file: 'machines/jobs/worker-health/grants.ts',
        find: 'requestSeq <= (operations.get(operationId)?.requestSeq ?? 0)',
        replace: 'requestSeq <= (operations.get(operationId)?.grants ?? 0) * 0',
      },
    ],
    suite: 'test/jobs/machines/worker-health-answers.test.ts',
  },
  {
    id: 'P110',
    area: 'runtime',
    says: 'Over a socket everybody may do everything: the jobs service does not look into the table of permissions.',
    edits: [
      {
        file: 'programs/jobs/jobs-service/admission.ts',
        find: '    if (why === undefined) return undefined;',
        replace: '    if (why === undefined || action.startsWith("jobs.")) return undefined;',
      },
    ],
    suite: 'test/jobs/operators.test.ts',
  },
  {
    id: 'P111',
    area: 'runtime',
    says: 'A page of any port of this machine may ask in the name of anybody who looks at it.',
    edits: [
      {
        file: 'http/origins.ts',
        find: '    if (this.#hosts.has(page)) return true;',
        replace: '    if (this.#hosts.has(page) || page.startsWith("localhost:")) return true;',
      },
    ],
    suite: 'test/http/access.test.ts',
  },
  {
    id: 'P112',
    area: 'runtime',
    says: 'A list of tokens that becomes bad refuses every request.',
    edits: [
      {
        file: 'http/callers.ts',
        find: '      if (error === this.#told) return;',
        replace: '      this.#known = [];\n      if (error === this.#told) return;',
      },
    ],
    suite: 'test/http/access.test.ts',
  },
  {
    id: 'P102',
    area: 'time',
    says: 'A worker that has just sent a report drops the ones that come within the second after it, the last one too.',
    edits: [
      {
        file: 'programs/jobs/worker/progress.ts',
        find: 'else this.#cancelSend = this.#clock.schedule(dueAt, () => this.#sendNow());',
        replace: 'else this.#cancelSend = undefined;',
      },
    ],
  },
  {
    id: 'P103',
    area: 'time',
    says: 'A workflow that is run again keeps the items of the run before: the next run has to do more than that to be any further.',
    edits: [
      {
        file: 'machines/jobs/workflow/context.ts',
        find: '    progress: 0,\n    completedItems: 0,\n    heartbeatSeq: 0,',
        replace: '    progress: 0,\n    heartbeatSeq: 0,',
      },
    ],
  },
  {
    id: 'P104',
    area: 'store',
    says: 'A new leader goes on with what is on disk before its fence is on it: what the leader before wrote last comes after that, and is written over.',
    edits: [
      {
        file: 'runtime/shard/shard.ts',
        find: '    this.#retries.begin();\n',
        replace: '    this.#retries.begin();\n    this.#host();\n',
      },
    ],
  },
  {
    id: 'P105',
    area: 'runtime',
    says: 'An actor that is read from its record has lost the counters that it had taken out of order.',
    edits: [
      {
        file: 'runtime/actor/inbox.ts',
        find: 'watermarkOf(sender, high, at, above));',
        replace: 'watermarkOf(sender, high, at, above.slice(0, 0)));',
      },
    ],
    suite: 'test/delivery/inbox.test.ts',
  },
  {
    id: 'P106',
    area: 'runtime',
    says: 'Senders that were not heard for long are never forgotten, and an inbox that is full stays so.',
    edits: [
      {
        file: 'runtime/actor/inbox.ts',
        find: '      if (watermark.movedAt > untilMs) return;\n',
        replace: '      if (watermark.movedAt > untilMs || untilMs > 0) return;\n',
      },
    ],
  },
  {
    id: 'P107',
    area: 'runtime',
    says: 'An outbox with more than two messages for a receiver drops the oldest.',
    edits: [
      {
        file: 'runtime/actor/outbox.ts',
        find: '    lane.rows.push(row);\n    this.size += 1;\n',
        replace:
          '    lane.rows.push(row);\n    this.size += 1;\n    if (lane.rows.length > 2) this.settle(row.to, (lane.rows[0] as OutboxRow).counter);\n',
      },
    ],
  },
  {
    id: 'P108',
    area: 'runtime',
    says: 'An inbox forgets no sender of its own place that was let go from memory, and fills up with those.',
    edits: [
      {
        file: 'runtime/shard/local-senders.ts',
        find: 'return text === undefined || !mayOweMessages(text);',
        replace: "return text === '' && !mayOweMessages(text);",
      },
    ],
    suite: 'test/delivery/seeds/marks.test.ts',
  },
  {
    id: 'P109',
    area: 'work',
    says: 'A worker knows only the last attempts that have ended: a late copy of the dispatch of an earlier one runs it again.',
    edits: [
      {
        file: 'programs/jobs/worker/runs.ts',
        find: 'if (this.#ended.has(address)) {',
        replace: 'if (this.#runs.has(address)) {',
      },
    ],
    suite: 'test/jobs/worker/runs.test.ts',
  },
  {
    id: 'P180',
    area: 'work',
    says: 'A run that is stopped before its handler has begun is begun all the same.',
    edits: [
      {
        file: 'programs/jobs/worker/run.ts',
        find: '      if (this.#stopReason !== undefined) throw this.#stopReason;\n',
        replace: '',
      },
    ],
    suite: 'test/jobs/worker/runs.test.ts',
  },
  {
    id: 'P190',
    area: 'runtime',
    says: 'Marks that are not durable yet are forgotten: what is sent again while the disk stalls for long is taken twice.',
    edits: [
      {
        file: 'runtime/shard/admission.ts',
        find: 'Math.min(at - limits.dedupRetentionMs, commits.oldestAt - 1)',
        replace: 'Math.min(at - limits.dedupRetentionMs, at)',
      },
    ],
    plan: '7030-MS-2.json',
  },
  {
    id: 'P191',
    area: 'work',
    says: 'Of two submissions of one job by one client the parts are taken for those of one: each drives out the other, until both are given up.',
    edits: [
      {
        file: 'programs/jobs/submission.ts',
        find: "${part.jobId} ${part.requestId ?? ''}`",
        replace: '${part.jobId}`',
      },
    ],
    suite: 'test/jobs/unfinished-submission.test.ts',
  },
  {
    id: 'P195',
    area: 'runtime',
    says: 'Marks of senders of the same place end with the window, too: what a takeover sends again after a longer outage is taken twice.',
    edits: [
      {
        file: 'runtime/shard/local-senders.ts',
        find: 'return since !== undefined && since <= at;',
        replace: 'return since !== undefined && since < 0;',
      },
    ],
    plan: '100204-WP-5.json',
  },
  {
    id: 'P192',
    area: 'gate',
    says: 'A gate asks who does not answer in one more message that has to arrive, each time that it starts.',
    edits: [
      {
        file: 'machines/jobs/gate-job/steps.ts',
        find: '?.isQuestioned === true ?',
        replace: "?.run === 'asked' ?",
      },
    ],
    suite: 'test/jobs/machines/gate-recovery.test.ts',
  },
  {
    id: 'P193',
    area: 'gate',
    says: 'Of several datacenters that a gate tells at once it keeps another number than it sent: what they answer is taken for older than that.',
    edits: [
      {
        file: 'machines/jobs/gate-job/decisions.ts',
        find: '    const epoch = epochOf(context, record);\n    counter',
        replace: '    const epoch = epochOf({ ...context, counter }, record);\n    counter',
      },
    ],
    plan: '220020-CL-2.json',
  },
];
