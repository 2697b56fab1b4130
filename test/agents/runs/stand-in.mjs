/**
 * Stand-in for an agent or an expert: does what its arguments say, one after another, over JSON Lines.
 *
 *   node stand-in.mjs work=200 answers · mute · deaf · delegate=sql delegateAt=200 then=300 · ask=TEXT · print=TEXT
 *   times=21 · exit=1 · doneWhen=FILE, exitWhen=FILE, answersWhen=FILE (once it is there; `%` is the number of the
 *   attempt, or of the request)
 *
 * It takes an exclusive lock on its task while it runs, and writes a collision down where there is one.
 */

import { spawn } from 'node:child_process';
import { appendFileSync, closeSync, existsSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const {
  ESCAPEMENT_TASK_ID: task,
  ESCAPEMENT_ATTEMPT_ID: attempt,
  ESCAPEMENT_ROLE: role,
} = process.env;
const steps = process.argv.slice(2);
const has = (name) => steps.includes(name);
const named = (name) => steps.find((each) => each.startsWith(`${name}=`))?.slice(name.length + 1);
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
const note = (text) => appendFileSync('told.log', `${attempt} ${text}\n`);
const lockFile = `lock-${role}-${task}`;
let isLocked = false;
if (role === 'agent')
  try {
    closeSync(openSync(lockFile, 'wx'));
    isLocked = true;
  } catch {
    const isStale = named('locks') === 'stale';
    if (!isStale) appendFileSync('collisions.log', `${attempt}\n`);
  }
const leave = (code) => {
  if (isLocked) rmSync(lockFile, { force: true });
  process.exit(code);
};
process.on('SIGTERM', () => {
  if (has('deaf')) return;
  if (has('lateDone')) {
    if (isLocked) rmSync(lockFile, { force: true });
    isLocked = false;
    say({ type: 'done', result: 'late' });
    setTimeout(() => leave(0), 50);
    return;
  }
  leave(143);
});
if (has('child')) spawn('sleep', ['60'], { stdio: 'ignore' });
if (has('detached')) spawn('sleep', ['60'], { stdio: 'ignore', detached: true }).unref();
const text = named('print');
if (text !== undefined)
  for (let count = 0; count < Number(named('times') ?? 1); count++)
    process.stdout.write(`${text}\n`);
const bytes = Number(named('flood') ?? 0);
if (bytes > 0) {
  const line = `${'x'.repeat(1_023)}\n`;
  for (let written = 0; written < bytes; written += line.length) process.stdout.write(line);
}
const finish = (result) => {
  say({ type: 'done', result });
  if (has('stays')) return;
  leave(0);
};
const after = (ms, then) => setTimeout(then, ms);
/** Once the file is there that a step names. */
const when = (name, number, then) => {
  const file = named(name)?.replace('%', String(number));
  if (file === undefined) return;
  const look = () => (existsSync(file) ? then() : setTimeout(look, 10));
  look();
};
let requests = 0;
const onLine = {
  'task.assigned': (line) => {
    writeFileSync(`assigned-${attempt}.json`, JSON.stringify(line));
    note('assigned');
    if (has('usage'))
      say({ type: 'usage', kind: named('kind'), remainingPercent: Number(named('percent')) });
    if (named('usageAt') !== undefined)
      after(Number(named('usageAt')), () =>
        say({ type: 'usage', kind: named('kind'), remainingPercent: Number(named('percent')) }),
      );
    if (named('work') !== undefined) after(Number(named('work')), () => finish('worked'));
    when('doneWhen', line.attempt, () => finish('worked'));
    when('exitWhen', line.attempt, () => leave(1));
    if (named('exit') !== undefined)
      after(Number(named('exitAt') ?? 0), () => leave(Number(named('exit'))));
    if (named('fail') !== undefined)
      say({ type: 'failed', error: named('fail'), retryable: !has('final') });
    const expert = named('delegate');
    const delegateAt = Number(named('delegateAt') ?? 0);
    if (expert !== undefined)
      after(delegateAt, () => say({ type: 'delegate', requestId: 'd1', expert, prompt: 'help' }));
    const hasAnswer = line.answers.length > 0;
    if (named('ask') !== undefined && hasAnswer) finish(line.answers);
    else if (named('ask') !== undefined)
      after(0, () => {
        say({ type: 'ask', requestId: 'a1', question: named('ask') });
        if (has('twice')) say({ type: 'ask', requestId: 'a1', question: 'again' });
      });
  },
  'checkpoint.requested': ({ requestId }) => {
    requests += 1;
    note(`requested ${requests}`);
    const only = named('answersOnly');
    const answers = has('answers') || named('answersWhen') !== undefined;
    if (only === undefined ? !answers : String(requests) !== only) return;
    const number = requests;
    const answer = () => {
      say({ type: 'checkpoint', requestId, status: `at ${number}` });
      if (has('answersTwice')) say({ type: 'checkpoint', requestId, status: 'twice' });
    };
    if (named('answersWhen') === undefined) answer();
    else when('answersWhen', number, answer);
  },
  'expert.answered': (line) => {
    note(`expert ${JSON.stringify(line)}`);
    after(Number(named('then') ?? 0), () => finish(line));
  },
  'human.answered': (line) => {
    note(`human ${line.answer}`);
    after(Number(named('then') ?? 0), () => finish(line.answer));
  },
  stop: ({ reason }) => note(`stop ${reason}`),
};
if (!has('unread'))
  createInterface({ input: process.stdin })
    .on('line', (line) => {
      const said = JSON.parse(line);
      onLine[said.type]?.(said);
    })
    .on('close', () => {
      if (!has('deaf')) leave(0);
    });
setInterval(() => {}, 1_000);
