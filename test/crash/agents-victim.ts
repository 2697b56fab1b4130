/**
 * Runs a plan of agents in a process that is to be killed: begins it, or goes on with it, until only questions are
 * left, or with `waits` until they are answered. It prints a line with each event.
 *
 *   node --import tsx test/crash/agents-victim.ts PLAN DATA [waits]
 */

import { runAgents } from '../../programs/agents/index.ts';

const [plan = 'plan.yml', data = '.escapement', mode] = process.argv.slice(2);
await runAgents(plan, {
  data,
  exitWhenBlocked: mode !== 'waits',
  onEvent: () => process.stdout.write('.\n'),
});
