/**
 * Cast of the world, and the messages of its members to each other: the real machines of a gate's job and
 * of its job in each of two datacenters.
 *
 * A message is a number that stands for what is said, to whom, and whether it is kept.
 */

import type { AnyStateMachine } from 'xstate';
import { gateJobAddress, jobAddress, workflowAddress } from '../../machines/jobs/addresses.ts';
import type { GateJobContext, GateJobSubmission } from '../../machines/jobs/gate-job.ts';
import { gateJobMachine } from '../../machines/jobs/gate-job.ts';
import type { JobContext, JobInput } from '../../machines/jobs/job.ts';
import { jobMachine } from '../../machines/jobs/job.ts';
import type { JobsConfiguration } from '../../programs/jobs/configuration.ts';
import { gateRules, jobRules, resolveConfiguration } from '../../programs/jobs/configuration.ts';
import { ActorStates, type PlayedEvent } from './actor-states.ts';
import { canonicalizeGateJob, canonicalizeJob, canonicalizeMessage } from './canonical-form.ts';
import { checkGateTurn } from './gate-invariants.ts';
import { Interner } from './interner.ts';
import { checkJobTurn } from './job-invariants.ts';
import type { Scope } from './scope.ts';
import { NOBODY, type World } from './world.ts';

export const JOB_ID = 'j1';
export const WORKFLOW_ID = 'w1';
const GATE_ID = 'gate-1';
export const DATACENTERS = ['A', 'B'] as const;
/** The moment of the submission; not 0, which means `never` in some records. */
export const ZERO = 1_000_000;

export interface Message {
  readonly event: PlayedEvent;
  /** Where it is under way; -1 for what the programs and people say. */
  readonly lane: number;
  readonly isHint: boolean;
}

export interface CastOptions {
  /** In the place of the real ones, to see whether a fault in them is found. */
  readonly machines?: { readonly job?: AnyStateMachine; readonly gateJob?: AnyStateMachine };
  /** False: nothing is forgotten, at the price of a larger world. Default true. */
  readonly isForgetful?: boolean;
}

export class Cast {
  readonly scope: Scope;
  readonly messages = new Interner<Message>();
  readonly gate: ActorStates<GateJobContext>;
  readonly jobs: readonly [ActorStates<JobContext>, ActorStates<JobContext>];
  readonly #config: JobsConfiguration;
  readonly #isForgetful: boolean;

  constructor(scope: Scope, { machines = {}, isForgetful = true }: CastOptions = {}) {
    this.scope = scope;
    this.#isForgetful = isForgetful;
    this.#config = resolveConfiguration(scope.config);
    const { job = jobMachine, gateJob = gateJobMachine } = machines;
    this.gate = new ActorStates<GateJobContext>(
      {
        address: gateJobAddress(JOB_ID, GATE_ID),
        machine: gateJob,
        forget: canonicalizeGateJob,
        isForgetful,
        check: checkGateTurn,
        numberOf: (to, event, isHint) => {
          const site = DATACENTERS.findIndex((name) => to === jobAddress(JOB_ID, name));
          return site < 0 ? -1 : this.#said(site, event, isHint);
        },
      },
      ZERO,
    );
    this.jobs = [this.#jobAt(0, job), this.#jobAt(1, job)];
  }

  /** The number of an event that comes from a program, or from people. */
  told(event: PlayedEvent): number {
    const number = (): Message => ({ event, lane: -1, isHint: false });
    return this.messages.numberOf(JSON.stringify(event), number);
  }

  /** Whom a lane leads to. */
  addressOf(lane: number): string {
    const datacenter = DATACENTERS[lane];
    return datacenter === undefined
      ? gateJobAddress(JOB_ID, GATE_ID)
      : jobAddress(JOB_ID, datacenter);
  }

  /** A world without what no future depends on: the same for worlds with the same future. */
  portraitOf(world: World): string {
    const { sites, lanes, hints, gate, ...rest } = world;
    const said = (number: number) => canonicalizeMessage(this.messages.get(number).event);
    return JSON.stringify([
      rest,
      this.gate.portraitOf(gate),
      sites.map(({ job, ...site }, index) => [
        site,
        job === NOBODY ? null : this.jobs[index as 0 | 1].portraitOf(job),
      ]),
      lanes.map((lane) => lane.map((entry) => [said(entry >> 1), entry & 1])),
      hints.map((hint) => [said(hint >> 2), hint & 3]),
    ]);
  }

  get submission(): GateJobSubmission {
    const { terms } = this.scope;
    return {
      jobId: JOB_ID,
      gateId: GATE_ID,
      gateBoot: 1,
      terms,
      targetDatacenters: DATACENTERS,
      digest: 'd1',
      rules: gateRules(this.#config, terms),
      workflowsTotal: 1,
      pages: 0,
    };
  }

  /** As a manager makes it of a submission, see programs/jobs/manager/acceptance.ts. */
  jobInput(site: number, term: number): JobInput {
    const { terms, beginsBeforeMs } = this.scope;
    return {
      ...(beginsBeforeMs !== null && { beginsBefore: { term: 1, at: ZERO + beginsBeforeMs } }),
      jobId: JOB_ID,
      datacenter: DATACENTERS[site] as string,
      managerId: 'manager',
      term,
      gateId: GATE_ID,
      digest: 'd1',
      timeoutMs: terms.timeoutMs,
      stuckThresholdMs: terms.stuckThresholdMs ?? this.#config.stuckThresholdMs,
      failFast: terms.failFast ?? this.#config.failFast,
      enforce: terms.enforce ?? true,
      targetDatacenters: DATACENTERS,
      decisionEpoch: [1, 0],
      rules: jobRules(this.#config, terms),
      ids: [WORKFLOW_ID],
      dependsOn: {},
    };
  }

  #jobAt(site: number, machine: AnyStateMachine): ActorStates<JobContext> {
    const datacenter = DATACENTERS[site] as string;
    const gate = gateJobAddress(JOB_ID, GATE_ID);
    const workflow = workflowAddress(JOB_ID, WORKFLOW_ID, datacenter);
    return new ActorStates<JobContext>(
      {
        address: jobAddress(JOB_ID, datacenter),
        machine,
        forget: canonicalizeJob,
        isForgetful: this.#isForgetful,
        check: checkJobTurn,
        numberOf: (to, event, isHint) => {
          if (to === gate) return this.#said(site + 2, event, isHint);
          return to === workflow ? this.told(event) : -1;
        },
      },
      ZERO,
    );
  }

  #said(lane: number, said: PlayedEvent, isHint: boolean): number {
    const event = this.#isForgetful ? canonicalizeMessage(said) : said;
    return this.messages.numberOf(`${lane}${isHint}${JSON.stringify(event)}`, () => ({
      event,
      lane,
      isHint,
    }));
  }
}
