/**
 * A kind: a machine registered under a name, with what the runtime needs to know
 * besides it (version, performers, supervision, validation).
 */

import type { AnyMachineSnapshot, AnyStateMachine } from 'xstate';
import { checkName } from '../base/address.ts';
import { excerpt, messageOf, RuntimeError } from '../base/errors.ts';
import type { Logger } from '../base/limits.ts';
import { findLikelyOf } from '../base/suggestion.ts';
import { SPAWN_EVENT } from '../machine.ts';
import type { Rank } from '../ports/store.ts';
import type { ProvedPeer } from '../ports/transport.ts';
import type { Outside, Statechart, StatechartLimits } from '../statechart.ts';
import { isOfAnotherXState, statechartOf } from '../statechart.ts';
import {
  isReserved,
  LEADERSHIP_ACQUIRED,
  MESSAGE_REFUSED,
  reserved,
  typeOf,
} from './event-names.ts';
import { wrongOption } from './kind-options.ts';
import { DEFAULT_SUPERVISION, type Supervision } from './supervision-options.ts';
import { validateEvent } from './validate-event.ts';

/** Arguments of a performer. `params` is the action's data, resolved in the turn. */
export interface PerformerCall {
  readonly params: unknown;
  /** The same on every attempt of this effect, also after a crash: hand it on as an idempotency key. */
  readonly effectId: string;
  readonly address: string;
  /** 1 for the first try since this process started the effect. */
  readonly attempt: number;
  /** Aborted when the runtime stops. */
  readonly signal: AbortSignal;
  /** Sends an event to the actor that asked; a repeated effect repeats it under the same identity, so it is taken once. */
  send(event: { readonly type: string; readonly [field: string]: unknown }): Promise<void>;
  /** Answers the `ask` whose `replyTo` came in the params, if anybody still waits; nothing for an empty one. */
  reply(replyTo: string | undefined, value: unknown): void;
}

// biome-ignore lint/suspicious/noExplicitAny: params are typed by the machine that asks, not by the performer.
export type Performer = (call: PerformerCall & { readonly params: any }) => unknown;

/** `durable: true`: carried out at least once, after a crash again with the same effect id. */
export interface DurablePerformer {
  readonly run: Performer;
  readonly durable: true;
  /** Tries before the effect is given up and recorded as undelivered. Default 5, with growing pauses; `Infinity` never gives it up. */
  readonly attemptsMax?: number;
}

/** Version of the form of records, see record.ts. */
export const RECORD_FORMAT = 1;

/** The part of https://standardschema.dev that is used: any validator that has it will do. */
export interface StandardSchema {
  readonly '~standard': {
    validate(
      value: unknown,
    ): { readonly issues?: ReadonlyArray<{ readonly message: string }> } | Promise<unknown>;
  };
}

/** Parts of a record that a migration may change. */
export interface MigratedState {
  /** XState's persisted snapshot: `value`, `context`, and `children`, `historyValue` where there are any. */
  readonly snapshot: unknown;
  readonly timers: ReadonlyArray<{ readonly id: string; readonly dueAt: number }>;
}

/** A message of another node: its event has passed what the kind checks of events. */
export interface ForeignMessage {
  readonly to: string;
  /** The sending actor, or the session (`session:…@node`) or request (`request:…`) of code there. */
  readonly from: string | undefined;
  readonly event: { readonly type: string; readonly [field: string]: unknown };
  /** Peer that handed it over, where the transport proves who its peers are. */
  readonly peer?: ProvedPeer | undefined;
}

export interface KindOptions {
  /** Version of the machine, a positive integer. Stored state of a newer one is refused. Default 1. */
  readonly version?: number;
  /** Carries out named actions after the commit. */
  readonly perform?: Readonly<Record<string, Performer | DurablePerformer>>;
  /** `migrate[2]` turns state of version 1 into version 2. */
  readonly migrate?: Readonly<Record<number, (stored: MigratedState) => MigratedState>>;
  /** Checks the whole event of messages from outside, by event type. */
  readonly validate?: Readonly<Record<string, StandardSchema>>;
  /**
   * Asked for every message from another node, spawns and hints included, before it waits for its
   * actor. A text is why its sender is refused for good, with SENDER_REFUSED; so is what it throws. An
   * error is told to the sender as it is.
   */
  readonly admit?: (message: ForeignMessage) => string | RuntimeError | undefined;
  /** Answers, with a hint, a hint from another node that `admit` let in and for which there is no actor. */
  readonly absent?: (message: ForeignMessage) => { readonly type: string } | undefined;
  /** An actor that has ended is not spawned again while it is kept: ACTOR_ENDED. Default false: a spawn begins its next life. */
  readonly livesOnce?: boolean;
  /**
   * Its input is not stored, for a machine that takes into its context what it needs of it: long inputs are
   * written once less. Not with `supervise.onFailure: 'restart'`, which begins again from the input. Default false.
   */
  readonly forgetsInput?: boolean;
  /** True if clients, peers that show a token and are no part of the cluster, may use it. Default false. */
  readonly openToClients?: boolean;
  readonly supervise?: Partial<Supervision>;
  /**
   * Rank of an actor in this state: its place in a queue; undefined where it does not wait. Asked of every
   * snapshot that is committed, the last one of an actor that is done included, so it is a pure function.
   * `query` finds the actors of a queue in order.
   */
  readonly rank?: (snapshot: AnyMachineSnapshot) => Rank | undefined;
  /** Charts that the machine steps itself and keeps in its context, by name, for `explain`. */
  // biome-ignore lint/suspicious/noExplicitAny: the context is that of the machine.
  readonly charts?: (context: any) => Readonly<Record<string, AnyMachineSnapshot>>;
  /** Precedence when a message and a deadline come together. Default `messages`. */
  readonly ties?: 'messages' | 'timers';
  /**
   * Types of events that only ask, each with the performer that answers: it is given the event itself,
   * and the machine takes no turn for it. Nothing of it is stored, so a caller without an answer asks again.
   */
  readonly questions?: Readonly<Record<string, string>>;
  /** Types of events that begin new work, `escapement.spawn` for spawns: a node with too much to do takes them last. */
  readonly newWork?: readonly string[];
}

export class Kind {
  readonly name: string;
  readonly source: AnyStateMachine;
  readonly chart: Statechart;
  readonly version: number;
  readonly options: KindOptions;
  readonly supervision: Supervision;
  readonly timersFirst: boolean;
  readonly newWork: ReadonlySet<string>;
  /** Performers of events that only ask, by type. */
  readonly questions: ReadonlyMap<string, string>;
  /** Beginning of every record of this kind, up to the number of turns. */
  readonly recordHead: string;
  /** Wakes its actors at every takeover, because the machine says it wants to know. */
  readonly wantsLeadership: boolean;
  /** Tells its actors which of their messages were refused, because the machine says it wants to know. */
  readonly wantsRefusals: boolean;
  /** Action names for which neither a performer nor an implementation was found; each is logged once. */
  readonly reported = new Set<string>();
  /** Sends for code that holds a reference, outside of any turn; set by the node it is registered at. */
  toMember: Outside | undefined;
  readonly outside: Outside = (address, session, event) => {
    if (this.toMember !== undefined) return this.toMember(address, session, event);
    const what = `Event "${event.type}" was sent to ${address}, which no runtime hosts here.`;
    throw new RuntimeError('NOT_HOSTED', what, { address });
  };
  readonly #durable: ReadonlySet<string>;
  readonly #quoted = new Map<string, string>();
  readonly #welcome = new Map<string, boolean>();

  constructor(
    name: string,
    machine: AnyStateMachine,
    options: KindOptions,
    limits: StatechartLimits,
  ) {
    checkName('kind', name);
    const { version = 1 } = options;
    const wrong = wrongOption(name, machine, options);
    if (wrong !== undefined) throw new RuntimeError('OPTION_INVALID', `Kind "${name}": ${wrong}.`);
    if (isOfAnotherXState(machine)) {
      const what = `The machine of kind "${name}" was made by another copy of xstate, of a version that does not run here. "npm ls xstate" shows the copies.`;
      throw new RuntimeError('XSTATE_UNSUPPORTED', what);
    }
    this.name = name;
    this.source = machine;
    this.chart = statechartOf(machine, limits);
    this.version = version;
    this.options = options;
    this.supervision = { ...DEFAULT_SUPERVISION, ...options.supervise };
    const performers = Object.entries(options.perform ?? {});
    const durable = performers.filter(([, performer]) => typeof performer !== 'function');
    this.#durable = new Set(durable.map(([action]) => action));
    this.recordHead = `{"format":${RECORD_FORMAT},"kind":"${name}","version":${version},"turns":`;
    this.timersFirst = options.ties === 'timers';
    this.newWork = new Set(options.newWork);
    this.questions = new Map(Object.entries(options.questions ?? {}));
    for (const type of [...this.newWork, ...this.questions.keys()])
      if (type !== SPAWN_EVENT && !this.#knows(type)) this.#refuse(type);
    this.wantsLeadership = (machine.events as string[]).includes(LEADERSHIP_ACQUIRED);
    // To ignore them is a decision too.
    this.wantsRefusals = this.chart.descriptors.includes(MESSAGE_REFUSED);
  }

  performer(
    name: string,
  ):
    | { readonly run: Performer; readonly durable: boolean; readonly attemptsMax: number }
    | undefined {
    const { perform } = this.options;
    const found = perform !== undefined && Object.hasOwn(perform, name) ? perform[name] : undefined;
    if (found === undefined) return undefined;
    if (typeof found === 'function') return { run: found, durable: false, attemptsMax: 1 };
    return { run: found.run, durable: true, attemptsMax: found.attemptsMax ?? 5 };
  }

  isDurable(action: string): boolean {
    return this.#durable.has(action);
  }

  /** JSON text of a name that recurs (event types, timer ids), made once. */
  quoted(name: string): string {
    let text = this.#quoted.get(name);
    if (text === undefined) {
      text = JSON.stringify(name);
      if (this.#quoted.size < 1_000) this.#quoted.set(name, text);
    }
    return text;
  }

  /** Everything an event from outside must pass before an actor sees it. */
  checkEvent(event: unknown, address: string): void {
    const type = typeOf(event, address);
    if (type === SPAWN_EVENT) return;
    let isWelcome = this.#welcome.get(type);
    if (isWelcome === undefined) {
      isWelcome = this.#knows(type);
      // Types come from outside: remember a bounded number of them.
      if (this.#welcome.size < 1_000) this.#welcome.set(type, isWelcome);
    }
    if (!isWelcome) this.#refuse(type, address);
    const { validate } = this.options;
    if (validate !== undefined && Object.hasOwn(validate, type))
      validateEvent(validate[type] as StandardSchema, event as { type: string }, address);
  }

  /** Asks `admit` about a sender on another node. @throws {RuntimeError} SENDER_REFUSED, or what `admit` says */
  checkSender(message: ForeignMessage): void {
    const { admit } = this.options;
    let why: unknown;
    try {
      why = admit?.(message);
    } catch (thrown) {
      why = messageOf(thrown);
    }
    if (why === undefined) return;
    if (why instanceof RuntimeError) throw why;
    if (typeof why !== 'string') {
      // An asynchronous one promises an answer that nobody will wait for, or hear fail.
      Promise.resolve(why).then(undefined, () => {});
      why = 'admit must answer at once, with a text, an error or nothing';
    }
    const { to: address, from, event } = message;
    const what = `${address} does not take ${excerpt(event.type)} from ${from ?? 'outside'}: ${why}`;
    throw new RuntimeError('SENDER_REFUSED', what, { address });
  }

  /** A named action that does nothing is almost always a misspelt one: say so, once. */
  reportMissing(action: string, logger: Logger): void {
    if (this.reported.has(action)) return;
    this.reported.add(action);
    logger.warn(
      { kind: this.name, action },
      `Action "${action}" has neither a performer nor an implementation; it does nothing.`,
    );
  }

  #knows(type: string): boolean {
    return !isReserved(type) && this.chart.declares(type);
  }

  #refuse(type: string, address?: string): never {
    if (isReserved(type)) throw reserved(type, address);
    const known = this.chart.descriptors.filter((event) => !isReserved(event)).sort();
    const shown = known.slice(0, EVENTS_SHOWN_MAX).join(', ') || 'none from outside';
    const rest = known.length - EVENTS_SHOWN_MAX;
    const likely = findLikelyOf(type, known);
    const hint = likely === undefined ? '' : ` Did you mean ${excerpt(likely)}?`;
    const what = `Kind "${this.name}" has no transition for ${excerpt(type)} anywhere.${hint} It knows: ${shown}${rest > 0 ? `, and ${rest} more` : ''}.`;
    throw new RuntimeError('EVENT_UNDECLARED', what, { address });
  }
}

/** Events that a refusal names; it says how many there are besides. */
const EVENTS_SHOWN_MAX = 30;
