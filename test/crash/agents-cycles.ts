/**
 * Crash cycles of a run of agents: it is killed with SIGKILL at drawn moments and run again, until it is done.
 *
 * Every agent takes a lock on its task that dies with it, and writes a collision down. One task in three asks a human,
 * who answers between the kills. Judged is that no task is lost, none has two agents at once, no question is lost
 * or asked twice, and no process is left.
 */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { answerQuestion } from '../../programs/agents/answering.ts';
import { openStoredData } from '../../programs/agents/stored-runs.ts';
import { SeededRandom } from '../../simulator/world/random.ts';
import { MarkedRun } from './marked-run.ts';

export interface AgentsReport {
  readonly hasHeld: boolean;
  readonly kills: number;
  readonly tasks: number;
  readonly done: number;
  readonly attempts: number;
  readonly collisions: number;
  readonly questions: number;
  /** Tasks that asked and were asked for more than once, or never got their answer. */
  readonly questionsWrong: number;
  readonly processesLeft: number;
  readonly seconds: number;
}

interface Options {
  readonly cycles: number;
  readonly seed: number;
  readonly progress?: (line: string) => void;
}

const RUN = 'r1';
const TASKS_PER_KILL = 4;
const LATEST_KILL_MS = 1_200;
const asks = (index: number): boolean => index % 3 === 0;

/** A lock names its process: that of one that was killed is none. */
const AGENT = `
const { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
const task = process.env.ESCAPEMENT_TASK_ID;
const lock = 'lock-' + task;
const isAlive = (pid) => {
  try { return !/\\) [ZX] /.test(readFileSync('/proc/' + pid + '/stat', 'latin1')); } catch { return false; }
};
if (existsSync(lock) && isAlive(readFileSync(lock, 'utf8'))) appendFileSync('collisions', task + '\\n');
// One that is killed meanwhile leaves the lock of before, and not an empty one.
writeFileSync(lock + '.' + process.pid, String(process.pid));
renameSync(lock + '.' + process.pid, lock);
process.on('SIGTERM', () => {});
const say = (line) => process.stdout.write(JSON.stringify(line) + '\\n');
const finish = (result) => setTimeout(() => { say({ type: 'done', result }); process.exit(); }, 100);
require('node:readline').createInterface({ input: process.stdin }).on('line', (text) => {
  const line = JSON.parse(text);
  if (line.type === 'human.answered') finish(line.answer);
  if (line.type !== 'task.assigned') return;
  if (line.prompt !== 'ask') finish('worked');
  else if (line.answers.length > 0) finish(line.answers[0].answer);
  else say({ type: 'ask', requestId: 'a', question: 'what now?' });
});
`;

export async function runAgentsCycles({ cycles, seed, progress }: Options): Promise<AgentsReport> {
  const begin = performance.now();
  const run = new MarkedRun('agents', 'test/crash/agents-victim.ts', (at) => [
    `${at}/plan.yml`,
    `${at}/data`,
  ]);
  const tasks = cycles * TASKS_PER_KILL;
  write(run, tasks);
  const random = new SeededRandom(seed, 'agents-crash');
  for (let kills = 0; kills < cycles; kills++) {
    await run.killed(Math.floor(random.next() * LATEST_KILL_MS));
    await answerAll(run);
    progress?.(`${kills + 1} of ${cycles} kills`);
  }
  await finish(run);
  const judged = await judge(run);
  const collisionsFile = run.file('collisions');
  const collisions = existsSync(collisionsFile)
    ? readFileSync(collisionsFile, 'utf8').trim().split('\n').length
    : 0;
  const processesLeft = run.processesLeft();
  run.remove();
  const { done, questionsWrong } = judged;
  const hasHeld = done === tasks && collisions + questionsWrong + processesLeft === 0;
  const seconds = Math.round((performance.now() - begin) / 100) / 10;
  return { hasHeld, kills: cycles, tasks, collisions, processesLeft, seconds, ...judged };
}

export function describeAgents(report: AgentsReport): string {
  const { kills, seconds, tasks, done, attempts, collisions, questions } = report;
  return [
    `${report.hasHeld ? 'HELD' : 'FAIL'}  ${kills} kills, ${seconds} s`,
    `${done} of ${tasks} tasks done in ${attempts} attempts, ${questions} questions`,
    `collisions ${collisions}, questions lost or asked twice ${report.questionsWrong}, processes left ${report.processesLeft}`,
    '',
  ].join('\n');
}

function write(run: MarkedRun, tasks: number): void {
  const plan = {
    name: RUN,
    slots: 4,
    timeouts: { AGENT_TIMEOUT: 60_000 },
    options: { terminationGraceMs: 200 },
    agents: { worker: [process.execPath, 'agent.cjs'] },
    tasks: Array.from({ length: tasks }, (_, index) => ({
      id: `t${index}`,
      prompt: asks(index) ? 'ask' : 'work',
      agent: 'worker',
    })),
  };
  writeFileSync(run.file('agent.cjs'), AGENT);
  writeFileSync(run.file('plan.yml'), JSON.stringify(plan));
}

/** Run to its end, with a human who answers all there is whenever nothing else is left. */
async function finish(run: MarkedRun): Promise<void> {
  for (;;) {
    await run.ended();
    if ((await answerAll(run)) === 0) return;
  }
}

async function answerAll(run: MarkedRun): Promise<number> {
  const data = run.file('data');
  const { stored, close } = await openStoredData(data);
  const rows = [...(stored.run(RUN)?.context.questions.values() ?? [])];
  await close();
  let answered = 0;
  for (const { questionId, state, taskId } of rows) {
    if (state !== 'open') continue;
    const { refusal } = await answerQuestion(data, { questionId, answer: `for ${taskId}` });
    if (refusal === null) answered += 1;
  }
  return answered;
}

async function judge(run: MarkedRun) {
  const { stored, close } = await openStoredData(run.file('data'));
  const known = stored.run(RUN);
  const rows = [...(known?.context.tasks ?? [])];
  const questions = [...(known?.context.questions.values() ?? [])];
  const wrong = rows.filter(([taskId, row]) => {
    const asked = questions.filter((each) => each.taskId === taskId).length;
    if (row.plan.prompt !== 'ask') return asked > 0;
    return asked !== 1 || stored.task(RUN, taskId)?.context.result !== `for ${taskId}`;
  });
  await close();
  return {
    done: rows.filter(([, { state }]) => state === 'done').length,
    attempts: rows.reduce((sum, [, row]) => sum + row.attempts, 0),
    questions: questions.length,
    questionsWrong: wrong.length,
  };
}
