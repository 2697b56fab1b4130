/** What a gate may decide, once, and whom it tells. */

import type { AckReceived, TimeoutDeclared } from '../../machines/jobs/messages/gate.ts';
import type { JobsInvariant } from '../jobs/facts.ts';
import { inputsOf, isOnlySilent, rulesDue } from './gate-rules-by-messages.ts';
import {
  dueRules,
  type GateJobContext,
  type GateTurn,
  isTarget,
  isUnderWay,
} from './reading-gate.ts';
import { JobsOfGates } from './reading-gate-messages.ts';
import { eventOf, followTurns, type TurnRecord } from './reading-turns.ts';

/** The timeout that stands. */
const timeoutOf = ({ decision }: GateJobContext) =>
  decision?.kind === 'timeout' ? decision : undefined;

/** True when the turn declared a timeout. */
const isDeclaration = ({ context, before }: GateTurn): boolean =>
  before !== undefined && context.declared > before.context.declared;

/** Datacenters of which the gate has heard, in so many words, that the job timed out there. */
class Told {
  readonly #names = new Map<string, Set<string>>();

  of(address: string): ReadonlySet<string> | undefined {
    return this.#names.get(address);
  }

  take({ record, before, isBirth }: GateTurn): void {
    const { address } = record;
    if (isBirth) this.#names.set(address, new Set());
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
        const due = rulesDue(job, context, at);
        if (!due.has(reason))
          verdict.broken(
            `${record.address} declared ${reason}, due was [${[...due]}]: ${inputsOf(job, context, at)}`,
            record,
          );
        const names = told.of(record.address);
        if (reason === 'datacenterTimeout' && names?.size === 0)
          verdict.broken(`${record.address}: no datacenter had reported a timeout`, record);
      },
    });
  },
};

export const decidesOnce: JobsInvariant = {
  id: 'GA-2',
  kind: 'safety',
  says: 'A declaration is written once and keeps its reason. It is withdrawn only while no target has accepted it or ended as timed out and no rule is due; a cancel is never withdrawn, and a published outcome stays.',
  watch: (_, verdict) =>
    followTurns<GateJobContext>('gate-job', {
      took(turn) {
        const { record, context, last } = turn;
        const { declared, withdrawn, outcome } = context;
        const broken = (what: string) => verdict.broken(`${record.address} ${what}`, record);
        if (declared - withdrawn !== (timeoutOf(context) === undefined ? 0 : 1))
          broken(`has declared ${declared} and withdrawn ${withdrawn} timeouts`);
        if (isDeclaration(turn)) verdict.exercised();
        if (last === undefined) return;
        const was = last.context;
        if (was.decision !== null && was.decision !== context.decision)
          for (const what of changesOfMind(turn, was)) broken(what);
        if (was.outcome === null || outcome === was.outcome) return;
        if (outcome?.status !== was.outcome.status || outcome.reason !== was.outcome.reason)
          broken(`published ${was.outcome.status} and changed it`);
      },
    }),
};

/** What is wrong with how a decision was changed. */
function* changesOfMind(turn: GateTurn, was: GateJobContext): Generator<string> {
  const { record, context, before } = turn;
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
  if (hasBeenObeyed(was) || hasBeenObeyed(context) || isAcceptance(record))
    yield 'withdrew a timeout that a datacenter has obeyed';
  if (before !== undefined && timeoutOf(context) === undefined && isAnyRuleDue(turn))
    yield 'withdrew a timeout while a rule was due';
}

const isAnyRuleDue = ({ context, record }: GateTurn): boolean =>
  dueRules(context, record.takenAt).size > 0;

function hasBeenObeyed({ datacenters }: GateJobContext): boolean {
  return Object.values(datacenters).some(
    (record) =>
      isTarget(record) &&
      (record.told?.answer === 'accepted' || record.final?.status === 'timedOut'),
  );
}

function isAcceptance(record: TurnRecord): boolean {
  const ack = eventOf<AckReceived>(record, 'ack.received');
  return ack?.accepted === true && ack.ackOf === 'timeout.declared' && ack.decisionEpoch !== null;
}

export const tellsEverybodyWhoRunsIt: JobsInvariant = {
  id: 'GA-4',
  kind: 'safety',
  says: 'A decision is sent to every datacenter that runs the job, again under each new epoch to those that have not accepted it, and to nobody else.',
  watch: (_, verdict) => {
    const awaited = new Set<string>();
    return followTurns<GateJobContext>('gate-job', {
      took({ record, context, before }) {
        const { datacenters, decision } = context;
        if (decision === null) return;
        for (const [name, known] of Object.entries(datacenters)) {
          if (known.told === null) {
            if (record.state === 'declaring' && isUnderWay(known))
              verdict.broken(`${record.address} has not told ${name}`, record);
            continue;
          }
          if (before === undefined || known.told.answer !== 'sent') continue;
          const sent = before.context.datacenters[name]?.told;
          if (String(sent?.epoch) !== String(known.told.epoch)) awaited.add(name);
        }
      },
      said({ event, to }, { record, context, before }) {
        const { type } = event;
        if (type !== 'timeout.declared' && type !== 'cancel.requested') return;
        const { datacenter: name } = event as TimeoutDeclared;
        verdict.exercised();
        awaited.delete(name);
        const known = context.datacenters[name];
        const isWrong = to !== `job/${context.jobId}@${name}` || known === undefined;
        if (
          isWrong ||
          (!isUnderWay(known) && (known.phase !== 'late' || type !== 'cancel.requested'))
        )
          verdict.broken(`${record.address} sent ${type} to ${to}`, record);
        if (before?.context.datacenters[name]?.told?.answer === 'accepted')
          verdict.broken(`${record.address} told ${name} again, which has accepted`, record);
      },
      over({ record }) {
        for (const name of awaited)
          verdict.broken(`${record.address} counts ${name} as told and sent it nothing`, record);
        awaited.clear();
      },
    });
  },
};

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
        if (isOpen && isOnlySilent(job, context, takenAt)) verdict.exercised();
        if (timeoutOf(context)?.reason !== 'allDatacentersStuck' || !isDeclaration(turn)) return;
        verdict.exercised();
        if (!rulesDue(job, context, takenAt).has('allDatacentersStuck'))
          verdict.broken(
            `${address} counts a datacenter as one without progress: ${inputsOf(job, context, takenAt)}`,
            record,
          );
      },
      forgot: (address) => heard.forget(address),
    });
  },
};
