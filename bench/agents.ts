/** The agents suite: how punctual runs of agents are. */

import { agentLateness } from './agents-lateness.ts';
import type { Suite } from './suite.ts';

export const agents: Suite = {
  name: 'agents',
  about: 'tasks for agents, with their clocks',
  fields: [agentLateness],
};
