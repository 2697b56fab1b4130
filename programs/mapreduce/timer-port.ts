/**
 * Timer port: who takes the timers of an attempt before its first command starts.
 *
 * Timers themselves are part of the attempt's record. The port says whether there is an enforcer that will
 * see to them, and how many attempts it takes on: what it refuses runs untimed or fails the run, as the workflow
 * says.
 */

import { messageOf, RuntimeError } from '../../runtime/base/errors.ts';

export interface TimerPort {
  /** @throws {Error} when it does not take them */
  register(agentId: string): void;
  /** The attempt has ended. */
  release(agentId: string): void;
}

/** Registers an attempt. Gives the reason where its timers are not taken; null is no enforcer at all. */
export function refusalOf(timers: TimerPort | null, agentId: string): string | undefined {
  if (timers === null) return 'Timeout enforcer not available';
  try {
    timers.register(agentId);
    return undefined;
  } catch (thrown) {
    return `Failed to register timeout: ${messageOf(thrown)}`;
  }
}

/** Attempts with timers at a time. Default 100,000. */
const AGENTS_MAX = 100_000;

export function engineTimers(agentsMax = AGENTS_MAX): TimerPort {
  const agents = new Set<string>();
  return {
    register: (agentId) => {
      if (agents.size >= agentsMax)
        throw new RuntimeError('OVERLOADED', `${agentsMax} agents have timers already`);
      agents.add(agentId);
    },
    release: (agentId) => {
      agents.delete(agentId);
    },
  };
}
