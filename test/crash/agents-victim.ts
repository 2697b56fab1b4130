/**
 * Runs a plan of agents in a process that is to be killed: begins it, or goes on with it.
 *
 *   node --import tsx test/crash/agents-victim.ts PLAN DATA
 */

import { runAgents } from '../../programs/agents/index.ts';

const [plan = 'plan.yml', data = '.escapement'] = process.argv.slice(2);
await runAgents(plan, { data });
