/**
 * Job log of a run: a line for each attempt that has ended, in the columns of GNU parallel.
 *
 *   Seq Host Starttime JobRuntime Send Receive Exitval Signal Command
 */

import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
import type { Host } from '../../programs/mapreduce/host.ts';

const HEADER = 'Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n';
const SIGNALS: Readonly<Record<string, number>> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGABRT: 6,
  SIGKILL: 9,
  SIGSEGV: 11,
  SIGPIPE: 13,
  SIGALRM: 14,
  SIGTERM: 15,
};

/** Begins the file, or goes on with that of a run that is resumed. @throws the system's error */
export function beginJobLog(file: string, isResumed: boolean): void {
  if (!isResumed || !existsSync(file)) writeFileSync(file, HEADER);
  else appendFileSync(file, '');
}

/** Adds a line as each attempt ends. */
export function followJobLog(host: Host, runId: string, file: string): void {
  host.monitor.watch(({ event, run_id, agent_id, resolution }) => {
    const isEnd =
      event === 'AgentCompleted' ||
      (event === 'TimeoutResolved' && String(resolution).startsWith('Cleanup'));
    if (run_id === runId && isEnd && agent_id !== undefined)
      appendFileSync(file, lineOf(host, runId, agent_id));
  });
}

function lineOf(host: Host, runId: string, agentId: string): string {
  const agent = host.stored.agent(runId, agentId);
  if (agent === undefined || agent.context.role !== 'map') return '';
  const { itemIndex, startedAt, endedAt, commands, timeout } = agent.context;
  const { workflow, folder } = host.plan(runId);
  const last = commands.at(-1);
  const received = commands.reduce((sum, { index }) => sum + folder.outputBytes(agentId, index), 0);
  const seconds = startedAt === null ? 0 : ((endedAt ?? startedAt) - startedAt) / 1_000;
  // An attempt that was ended has no code of its own: as GNU parallel has it, -1.
  const exitCode = timeout === null ? (last?.exitCode ?? 0) : -1;
  const text = workflow.map.template.map(({ texts }) => texts.join(' ')).join('; ');
  const fields = [
    itemIndex + 1,
    ':',
    ((startedAt ?? 0) / 1_000).toFixed(3),
    seconds.toFixed(3),
    0,
    received,
    exitCode,
    last?.signal == null ? 0 : (SIGNALS[last.signal] ?? 0),
    `${text} # ${host.plan(runId).items.at(itemIndex).itemId}`.replaceAll(/[\t\r\n]/g, ' '),
  ];
  return `${fields.join('\t')}\n`;
}
