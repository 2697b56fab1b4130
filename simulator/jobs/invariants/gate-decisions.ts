/** Decisions of a gate: which it may take, once, and whom it tells. */

import type { AckReceived, TimeoutDeclared } from '../../../machines/jobs/messages/gate.ts';
import type { JobsInvariant } from '../facts.ts';
import { inputsOf, isOnlySilent, rulesDue } from './gate-rules-by-messages.ts';
import type { GateJobContext, GateTurn } from './reading-gate.ts';
import { JobsOfGates } from './reading-gate-messages.ts';
import { type HeardJob, hasTimedOut, isHeardRunning, isHeardTarget } from './reading-heard-jobs.ts';
import { eventOf, followTurns, type TurnRecord } from './reading-turns.ts';

/** The timeout that stands. */
const timeoutOf = ({ decision }: GateJobContext) =>
  decision?.kind === 'timeout' ? decision : undefined;

/** True when the turn declared a timeout. */
const isDeclaration = ({ context, before }: GateTurn): boolean =>
  before !== undefined && context.declared > before.context.declared;

/** Datacenters of which the gate has heard, in plain words, that the job timed out there. */
class Told {
  readonly #names = new Map<string, Set<string>>();

  of(address: string): ReadonlySet<string> | undefined {
    return this.#names.get(address);
  }

  take({ record, before, isSpawn }: GateTurn): void {
    const { address } = record;
    if (isSpawn) this.#names.set(address, new Set());
    // After turns that nobody saw it is not known who said what.
    else if (before === undefined) this.#names.delete(address);
    const name = reporterOf(record);
    if (name !== undefined) this.#names.get(address)?.add(name);
  }
}

function reporterOf({ event }: TurnRecord): string | undefined {
  const said = event as {
    readonly datacenter?: string;
    readonly status?: string;
    readonly found?: { readonly status: string } | null;
    readonly figures?: { readonly locallyTimedOut: boolean };
  };
  switch (event.type) {
    case 'timeout.reported':
      return said.datacenter;
    case 'final.reported':
      return said.status === 'timedOut' ? said.datacenter : undefined;
    case 'status.corrected':
      return said.status === 'timedOut' || said.figures?.locallyTimedOut === true
        ? said.datacenter
        : undefined;
    case 'status.found':
      return said.found?.status === 'timedOut' ? said.datacenter : undefined;
    default:
      return undefined;
  }
}

export const decidesByItsRules: JobsInvariant = {
  id: 'GA-1',
  kind: 'safety',
  says: 'A gate declares a timeout only when the rule that it names is due by what it has heard, in the moment of that turn, and never a job whose timeouts only watch.',
  watch: (facts, verdict) => {
    const told = new Told();
    const heard = new JobsOfGates(facts);
    return followTurns<GateJobContext>('gate-job', {
      forgot: (address) => heard.forget(address),
      took(turn) {
        const { record, context } = turn;
        told.take(turn);
        const job = heard.take(turn);
        if (context.terms.enforce === false && context.declared > 0)
          verdict.broken(`${record.address} declared a timeout that is not to be enforced`, record);
        if (!isDeclaration(turn)) return;
        verdict.exercised();
        const decision = timeoutOf(context);
        if (decision === undefined) {
          verdict.broken(`${record.address} counts a declaration and has none`, record);
          return;
        }
        const { reason, at } = decision;
        if (at !== record.takenAt)
          verdict.broken(
            `${record.address} declared at ${at}, in a turn of ${record.takenAt}`,
            record,
          );
        const due = rulesDue(job, at);
        if (!due.has(reason))
          verdict.broken(
            `${record.address} declared ${reason}, due was [${[...due]}]: ${inputsOf(job, at)}`,
            record,
          );
        const names = told.of(record.address);
        if (reason === 'datacenterTimeout' && names?.size === 0)
          verdict.broken(`${record.address}: no datacenter had reported a timeout`, record);
      },
    });
  },
};

/**
 * The decision and the outcome in the record are what is judged: whether a decision may be taken back is asked of
 * what the datacenters have said.
 */
export const decidesOnce: JobsInvariant = {
  id: 'GA-2',
  kind: 'safety',
  says: 'A declaration is written once and keeps its reason. It is withdrawn only while no target has accepted it or ended as timed out and no rule is due; a cancel is never withdrawn, and a published outcome stays.',
  watch: (facts, verdict) => {
    const heard = new JobsOfGates(facts);
    return followTurns<GateJobContext>('gate-job', {
      took(turn) {
        const { record, context, last } = turn;
        const { declared, withdrawn, outcome } = context;
        const hadObeyed = hasBeenObeyed(heard.find(record.address));
        const job = heard.take(turn);
        const broken = (what: string) => verdict.broken(`${record.address} ${what}`, record);
        if (declared - withdrawn !== (timeoutOf(context) === undefined ? 0 : 1))
          broken(`has declared ${declared} and withdrawn ${withdrawn} timeouts`);
        if (isDeclaration(turn)) verdict.exercised();
        if (last === undefined) return;
        const was = last.context;
        if (was.decision !== null && was.decision !== context.decision)
          for (const what of changesOfMind(turn, was, job, hadObeyed)) broken(what);
        if (was.outcome === null || outcome === was.outcome) return;
        if (outcome?.status !== was.outcome.status || outcome.reason !== was.outcome.reason)
          broken(`published ${was.outcome.status} and changed it`);
      },
      forgot: (address) => heard.forget(address),
    });
  },
};

/** What is wrong with how a decision was changed. */
function* changesOfMind(
  { record, context, before }: GateTurn,
  was: GateJobContext,
  job: HeardJob,
  hadObeyed: boolean,
): Generator<string> {
  const known = timeoutOf(was);
  if (known === undefined) {
    if (context.decision?.kind !== 'cancel') yield 'took a cancel back';
    return;
  }
  if (context.withdrawn === was.withdrawn) {
    const now = timeoutOf(context);
    if (now === undefined) yield 'dropped a timeout without withdrawing it';
    else if (context.declared !== was.declared) yield 'declared a second time';
    else if (now.reason !== known.reason) yield `changed ${known.reason} to ${now.reason}`;
    return;
  }
  if (hadObeyed || hasBeenObeyed(job) || isAcceptance(record))
    yield 'withdrew a timeout that a datacenter has obeyed';
  const due = rulesDue(job, record.takenAt);
  if (before !== undefined && timeoutOf(context) === undefined && due.size > 0)
    yield `withdrew a timeout while [${[...due]}] was due: ${inputsOf(job, record.takenAt)}`;
}

function hasBeenObeyed(job: HeardJob | undefined): boolean {
  return [...(job?.datacenters.values() ?? [])].some(
    (one) => isHeardTarget(one) && (one.hasObeyed || hasTimedOut(one)),
  );
}

function isAcceptance(record: TurnRecord): boolean {
  const ack = eventOf<AckReceived>(record, 'ack.received');
  return ack?.accepted === true && ack.ackOf === 'timeout.declared' && ack.decisionEpoch !== null;
}

/**
 * Who runs the job and who has obeyed is by what the datacenters have said; who was told, by what has left.
 * Only that the record counts a datacenter as told is read from it, and held against what has left.
 */
export const tellsEverybodyWhoRunsIt: JobsInvariant = {
  id: 'GA-4',
  kind: 'safety',
  says: 'A decision is sent to every datacenter that runs the job, again under each new epoch to those that have not accepted it, and to nobody else.',
  watch: (facts, verdict) => {
    const heard = new JobsOfGates(facts);
    /** Datacenters, by job, that were told since the decision that stands; undefined where nobody knows. */
    const told = new Map<string, Set<string>>();
    const awaited = new Set<string>();
    let obeyed = new Set<string>();
    let job: HeardJob | undefined;
    return followTurns<GateJobContext>('gate-job', {
      took(turn) {
        const { record, context, before } = turn;
        const { address } = record;
        obeyed = obeyedIn(heard.find(address));
        job = heard.take(turn);
        const isNew = before !== undefined && before.context.decision === null;
        if (before === undefined) told.delete(address);
        else if (isNew || context.decision === null) told.set(address, new Set());
        if (context.decision === null || before === undefined) return;
        for (const [name, known] of Object.entries(context.datacenters)) {
          if (known.told === null || known.decision !== 'sent') continue;
          const sent = before.context.datacenters[name]?.told;
          if (String(sent?.epoch) !== String(known.told.epoch)) awaited.add(name);
        }
      },
      said({ event, to }, { record, context }) {
        const { type } = event;
        if (type !== 'timeout.declared' && type !== 'cancel.requested') return;
        const { datacenter: name } = event as TimeoutDeclared;
        verdict.exercised();
        awaited.delete(name);
        told.get(record.address)?.add(name);
        const one = job?.datacenters.get(name);
        const mayHaveIt = one?.phase === 'out' && !one.hasRefused && type === 'cancel.requested';
        const isRight = one !== undefined && (isHeardRunning(one) || mayHaveIt);
        if (to !== `job/${context.jobId}@${name}` || !isRight)
          verdict.broken(`${record.address} sent ${type} to ${to}, which is ${one?.phase}`, record);
        if (obeyed.has(name) && one?.phase !== 'out')
          verdict.broken(`${record.address} told ${name} again, which has accepted`, record);
      },
      over({ record, context }) {
        for (const name of awaited)
          verdict.broken(`${record.address} counts ${name} as told and sent it nothing`, record);
        awaited.clear();
        const known = told.get(record.address);
        if (known === undefined || job === undefined || context.decision === null) return;
        if (!DECIDED.test(record.state)) return;
        for (const [name, one] of job.datacenters)
          if (isHeardRunning(one) && !known.has(name))
            verdict.broken(`${record.address} has not told ${name}`, record);
      },
      forgot(address) {
        heard.forget(address);
        told.delete(address);
      },
    });
  },
};

/** One that listens after a restart tells nobody before it knows how things are. */
const DECIDED = /declaring|cancelling/;

const obeyedIn = (job: HeardJob | undefined): Set<string> =>
  new Set([...(job?.datacenters ?? [])].flatMap(([name, one]) => (one.hasObeyed ? [name] : [])));

export const countsNoSilence: JobsInvariant = {
  id: 'GA-9',
  kind: 'safety',
  says: 'When a gate declares that no datacenter has progress, each one that may run the job has said so itself, no longer ago than silence takes, and none of them waits for a worker.',
  watch: (facts, verdict) => {
    const heard = new JobsOfGates(facts);
    return followTurns<GateJobContext>('gate-job', {
      took(turn) {
        const { record, context } = turn;
        const { address, takenAt } = record;
        const job = heard.take(turn);
        const isOpen = context.decision === null && context.outcome === null;
        // It holds back because of silence alone: that is what the sentence is about.
        if (isOpen && isOnlySilent(job, takenAt)) verdict.exercised();
        if (timeoutOf(context)?.reason !== 'allDatacentersStuck' || !isDeclaration(turn)) return;
        verdict.exercised();
        if (!rulesDue(job, takenAt).has('allDatacentersStuck'))
          verdict.broken(
            `${address} counts a datacenter as one without progress: ${inputsOf(job, takenAt)}`,
            record,
          );
      },
      forgot: (address) => heard.forget(address),
    });
  },
};
