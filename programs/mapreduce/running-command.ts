/** Running command: a command of an attempt with what is known of it, until the attempt is cleaned. */

import type { AgentParams } from '../../machines/mapreduce/map-agent/setup.ts';
import type { Cancel } from '../../runtime/ports/clock.ts';
import type { Command } from '../processes.ts';
import type { OutputWatch } from './output-watch.ts';

/** Step of the attempt that a command is. `isUntimed`: the attempt's timers are not registered. */
export interface StartParams {
  readonly index: number;
  readonly isUntimed: boolean;
}

/** A command at work, or the last one of an attempt. */
export interface Running {
  readonly params: AgentParams;
  readonly index: number;
  readonly command: Command;
  readonly stdout: OutputWatch;
  cancelWait: Cancel;
  lastOutputAt: number;
}

/** Names an attempt among those at work. */
export const keyOf = ({ runId, agentId }: Pick<AgentParams, 'runId' | 'agentId'>): string =>
  `${runId}/${agentId}`;
