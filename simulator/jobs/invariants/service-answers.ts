/**
 * Truth of the answers of jobs services: each is held against the records of its place.
 *
 * It is judged by what the stores had between the moment in which the jobs service had taken the question and
 * the one in which the answer left; with a clock or a disk that is out of order, after a disk was lost or
 * damaged, and where another node has written meanwhile, nothing is judged. Of a gate what it says
 * of its own record is judged, not what datacenters told it.
 */

import type {
  CancelAnswer,
  ExtendAnswer,
  JobPage,
  JobView,
  StuckWorkflow,
  SubmissionAnswer,
  WorkerPage,
} from '../../../machines/jobs/messages/client.ts';
import { placeOf } from '../../../runtime/base/address.ts';
import type { HistoryRecord } from '../../history.ts';
import type { CommitRecord, Verdict, Watcher } from '../../invariants.ts';
import type { JobsFacts, JobsInvariant } from '../facts.ts';
import { wrongCancel, wrongExtension, wrongSubmission } from './answers-to-orders.ts';
import {
  wrongAge,
  wrongList,
  wrongStuck,
  wrongSummary,
  wrongView,
  wrongWorkers,
} from './answers-to-questions.ts';
import { LATENESS_MS } from './reading-healed.ts';
import {
  Hindrances,
  questionIn,
  type Reply,
  repliesIn,
  type ServiceRecord,
} from './reading-questions.ts';
import type { AskedService, Said } from './reading-services.ts';
import type { FaultRecord } from './reading-turns.ts';
import { Versions } from './reading-versions.ts';

type FrameRecord = Extract<HistoryRecord, { readonly type: 'frame' }>;

/** TS-8. */
export const answersAreTrue: JobsInvariant = {
  id: 'TS-8',
  kind: 'safety',
  says: 'What a jobs service answers a client is what the records of its place say: views, lists with all that is asked for and nothing else, workers, what is stuck, and what a cancel, an extension or a submission came to.',
  watch: (facts, verdict) => new ServiceAnswers(facts, verdict).watcher,
};

/** After these a store may have what nobody was seen to write. */
const DAMAGES: ReadonlySet<string> = new Set([
  'diskLost',
  'damagedRecord',
  'failedFlush',
  'splitGroup',
]);

class ServiceAnswers {
  readonly #facts: JobsFacts;
  readonly #verdict: Verdict;
  readonly #open = new Map<string, ServiceRecord>();
  /** Refused once: a copy is asked again, and the performer of the first one may answer it, with what was true before. */
  readonly #refused = new Set<string>();
  /** Answers to submissions: a copy that comes later has the same one, true or not by then. */
  readonly #given = new Map<string, string>();
  readonly #hindrances = new Hindrances();
  readonly #versions = new Versions((nowMs) => {
    const [oldest] = this.#open.values();
    return oldest?.atMs ?? nowMs;
  });
  #isDamaged = false;

  constructor(facts: JobsFacts, verdict: Verdict) {
    this.#facts = facts;
    this.#verdict = verdict;
  }

  get watcher(): Watcher {
    return {
      commit: (record) => this.#commit(record),
      turn: (record) => {
        this.#versions.turn(record);
        this.#taken(record);
      },
      question: (record) => this.#taken(record),
      frame: (record) => this.#frame(record),
      fault: (record) => this.#fault(record),
    };
  }

  #commit(record: CommitRecord): void {
    this.#versions.commit(record);
    for (const [replyTo, { place, node }] of this.#open)
      if (place === record.place && node !== record.node) this.#open.delete(replyTo);
  }

  #taken(record: ServiceRecord): void {
    const replyTo = questionIn(record);
    if (replyTo === undefined || this.#isDamaged || !this.#hindrances.wasNone(record.atMs)) return;
    const isWriter = this.#versions.writerOf(record.place) === record.node;
    if (isWriter && !this.#refused.has(replyTo)) this.#open.set(replyTo, record);
  }

  #frame(record: FrameRecord): void {
    if (this.#open.size === 0) return;
    for (const reply of repliesIn(record)) this.#judge(reply, record);
  }

  #judge({ to, event }: Reply, { atMs }: FrameRecord): void {
    const question = this.#open.get(to);
    this.#open.delete(to);
    if (question !== undefined && event.error !== undefined) this.#refused.add(to);
    if (question === undefined || event.value === undefined) return;
    if (question.event.type === 'job.submitted') {
      const answer = JSON.stringify(event.value);
      // A part of a submission that is not the last one, or a copy of what was answered.
      if (event.value === null || this.#given.get(to) === answer) return;
      this.#given.set(to, answer);
    }
    const { takenAt, place } = question;
    const asked: AskedService = {
      place,
      isGate: this.#facts.gates.includes(place),
      question: question.event as AskedService['question'],
      versions: this.#versions,
      span: { fromMs: question.atMs, toMs: atMs },
      moments: { from: takenAt, to: takenAt + atMs - question.atMs + LATENESS_MS },
    };
    this.#verdict.exercised();
    const wrong = wrongAnswer(asked, event.value);
    if (wrong === undefined) return;
    const what = `${question.address} answered ${placeOf(to)} to ${JSON.stringify(asked.question)}: ${wrong}`;
    this.#verdict.broken(what, question);
  }

  #fault(record: FaultRecord): void {
    if (DAMAGES.has(record.kind)) this.#isDamaged = true;
    if (this.#hindrances.fault(record)) this.#open.clear();
  }
}

function wrongAnswer(asked: AskedService, answer: unknown): Said {
  switch (asked.question.type) {
    case 'job.asked':
      return wrongView(asked, answer as { readonly job: JobView | null });
    case 'job.watched':
      return wrongSummary(asked, (answer as { readonly job: JobView | null }).job);
    case 'jobs.asked':
      return wrongList(asked, answer as JobPage);
    case 'stuckWorkflows.asked':
      return asked.isGate ? undefined : wrongStuck(asked, answer as readonly StuckWorkflow[]);
    case 'sinceProgress.asked':
      return wrongAge(asked, answer as number | null);
    case 'workers.asked':
      return asked.isGate ? undefined : wrongWorkers(asked, answer as WorkerPage);
    case 'jobCancel.requested':
      return wrongCancel(asked, answer as CancelAnswer);
    case 'jobExtend.requested':
      return asked.isGate ? undefined : wrongExtension(asked, answer as ExtendAnswer);
    case 'job.submitted':
      return wrongSubmission(asked, answer as SubmissionAnswer);
    default:
      return undefined;
  }
}
