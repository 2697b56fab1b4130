/**
 * A generated machine under XState's own `createActor`, with a clock in our hands. What
 * happens is written down in the words of tree-world.ts, so that the two can be compared.
 */

import { type AnyActorRef, type AnyStateMachine, createActor, type InspectionEvent } from 'xstate';
import { eventType, type Probe, type Running, routeTo } from './acting.ts';
import {
  type AnySnapshot,
  type Counters,
  LIMITS,
  messageOf,
  stateOf,
  Timers,
  type View,
  type World,
} from './drive.ts';
import type { StepSpec } from './generate.ts';

/** What the live world needs of XState's actor (private). */
interface LiveChild {
  readonly id: string;
  readonly _parent: LiveChild;
  readonly _processingStatus: number;
  _stop(): void;
  getSnapshot(): AnySnapshot;
}

/** XState as it is, but for the differences named in seeds/differential.test.ts. */
export class LiveWorld implements World {
  readonly #probe: Probe;
  readonly #actor: AnyActorRef & { start(): void };
  readonly #timers = new Timers();
  readonly #counters: Counters;
  #failure: { readonly thrown: unknown } | undefined;
  #relays = 0;
  #children: LiveChild[] = [];
  /** More events went between the machines in one step than a Tree allows; the rest were dropped. */
  isRunaway: boolean = false;

  constructor(machine: AnyStateMachine, probe: Probe, counters: Counters) {
    this.#probe = probe;
    this.#counters = counters;
    let order = 0;
    const clock = {
      setTimeout: (fire: () => void, delayMs: number) => {
        order += 1;
        this.#timers.arm(order, delayMs, () => {
          this.#count('timersFired');
          this.#relays = -1;
          fire();
          this.#sweep();
        });
        return order as never;
      },
      clearTimeout: (key: unknown) => this.#timers.delete(key),
    };
    this.#actor = createActor(machine, {
      clock,
      logger: (...args: unknown[]) => probe.trace.push(`log ${JSON.stringify(args)}`),
      inspect: (event: InspectionEvent) => this.#inspect(event),
      input: { n: 0 },
    } as never) as never;
    this.#actor.subscribe({
      error: (thrown: unknown) => {
        this.#failure = { thrown };
      },
    });
    this.#adaptSystem();
    this.#actor.start();
    this.#sweep();
  }

  take(step: StepSpec): void {
    this.#relays = 0;
    if (step.type === 'event') this.#actor.send({ type: eventType(step.which) });
    else if (step.type === 'route')
      this.#actor.send({ type: 'xstate.route', to: routeTo(step.which) });
    else if (step.type === 'advance') this.#timers.advance(step.byMs);
    else if (step.type === 'settle') {
      const { running } = this.#probe;
      if (running.length === 0) return;
      this.#count('settled');
      const chosen = running[step.which % running.length] as Running;
      // A promise tells itself first, which is no event between machines.
      if (chosen.label !== 'callback') this.#relays = -1;
      chosen.settle(step.how, step.how);
    }
    this.#sweep();
  }

  view(): View {
    return {
      trace: this.#probe.trace,
      state: stateOf(this.#actor.getSnapshot()),
      running: this.#probe.running.map(({ label }) => label),
      timers: this.#timers.dues(),
      failure: this.#failure && messageOf(this.#failure.thrown),
    };
  }

  #count(name: string): void {
    this.#counters[name] = (this.#counters[name] ?? 0) + 1;
  }

  #inspect(event: InspectionEvent): void {
    if (event.type === '@xstate.actor') {
      if ((event.actorRef as AnyActorRef)._parent !== undefined) {
        this.#count('childrenBorn');
        this.#children.push(event.actorRef as unknown as LiveChild);
      }
      (event.actorRef as AnyActorRef).on('*', (emitted) => {
        this.#probe.trace.push(`emit ${JSON.stringify(emitted)}`);
      });
    } else if (event.type === '@xstate.microstep') {
      for (const transition of event._transitions) {
        this.#count('transitions');
        if (transition.eventType === '') this.#count('always');
        if (transition.eventType === 'xstate.route') this.#count('routed');
        if (transition.reenter) this.#count('reentered');
        if (transition.target?.some(({ type }) => type === 'history'))
          this.#count('historyEntered');
      }
    }
  }

  /** The two differences that no generator can avoid are made here: see seeds/differential.test.ts. */
  #adaptSystem(): void {
    const system = this.#actor.system as unknown as {
      _relay(source: unknown, target: AnyActorRef, event: { type: string }): void;
      readonly scheduler: {
        schedule(source: unknown, ...rest: [unknown, unknown, number, string | undefined]): void;
        cancel(source: unknown, id: string): void;
      };
    };
    const { _relay: relay, scheduler } = system;
    const { schedule } = scheduler;
    scheduler.schedule = (source, target, event, delayMs, id) => {
      if (id !== undefined) scheduler.cancel(source, id);
      schedule(source, target, event, delayMs, id);
    };
    system._relay = (source, target, event) => {
      if (source !== undefined) this.#relays += 1;
      if (this.#relays > LIMITS.microstepsMax) this.isRunaway = true;
      if (this.isRunaway) return;
      this.#countEvent(event, source, target);
      relay(source, target, event);
    };
  }

  /**
   * A tree ends the children of a parent that has failed; XState leaves them running. It gives the system id
   * of a child that was built and never started free again; in XState nobody can ever have it.
   */
  #sweep(): void {
    const isRunning = ({ _processingStatus }: LiveChild) => _processingStatus === 1;
    const findLost = () =>
      this.#children.find((child) => isRunning(child) && !this.#hasParent(child));
    for (let lost = findLost(); lost !== undefined; lost = findLost()) {
      this.#count('swept');
      lost._stop();
    }
    const { system } = this.#actor as unknown as { system: { _unregister(ref: unknown): void } };
    for (const child of this.#children) if (!isRunning(child)) system._unregister(child);
    this.#children = this.#children.filter(isRunning);
  }

  #hasParent(child: LiveChild): boolean {
    const { _parent: parent } = child;
    return (parent as unknown) === this.#actor
      ? this.#actor.getSnapshot().status === 'active'
      : parent._processingStatus === 1;
  }

  #countEvent(
    event: { type: string; error?: unknown },
    source: unknown,
    target: AnyActorRef,
  ): void {
    if (event.type.startsWith('xstate.error.actor.')) {
      this.#count('childrenFailed');
      if (messageOf(event.error).startsWith('Infinite loop')) this.#count('childrenLooped');
    } else if (event.type.startsWith('xstate.done.actor.')) this.#count('childrenDone');
    else if (event.type.startsWith('xstate.snapshot.')) this.#count('snapshotsSynced');
    else if (source === target) this.#count('sentToSelf');
    else if ((source as AnyActorRef | undefined)?._parent === target) this.#count('sentToParent');
    else if (source !== undefined) this.#count('sentToChild');
  }
}
