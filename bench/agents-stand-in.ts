/**
 * Stand-in for an agent in measurements: a program as one argument of `node -e`, which does what is said of it, at
 * moments after the start of its attempt.
 */

export interface Does {
  /** Says that it is done so long after the start of its attempt; never, where it is left out. */
  readonly doneAt?: number;
  /** Answers requests of checkpoints: all of them, or these by number. */
  readonly answers?: true | readonly number[];
  /** So long after a request. */
  readonly answersIn?: number;
  readonly isDeaf?: boolean;
  /** Says that it is done when it gets SIGTERM. */
  readonly isLate?: boolean;
  /** Asks the expert, and goes on for so long after the answer. */
  readonly delegateAt?: number;
  readonly then?: number;
  /** Tells what is left of the context. */
  readonly usageAt?: number;
}

/** In the language of the program, which knows nothing of this process. */
const PROGRAM = `
const does = JSON.parse(process.argv[1]);
let begun;
const say = (line) => process.stdout.write(JSON.stringify(line) + '\\n');
const at = (ms, then) => { if (ms !== undefined) setTimeout(then, begun + ms - Date.now()); };
const done = () => { say({ type: 'done' }); process.exit(); };
process.on('SIGTERM', () => {
  if (does.isDeaf) return;
  if (!does.isLate) process.exit();
  setTimeout(done, 100);
});
let requests = 0;
const take = (line) => {
  if (line.type === 'checkpoint.requested') {
    requests += 1;
    if (does.answers !== true && !(does.answers || []).includes(requests)) return;
    setTimeout(() => say({ type: 'checkpoint', requestId: line.requestId, status: 'at work' }), does.answersIn || 0);
  }
  if (line.type === 'expert.answered') setTimeout(done, line.at + does.then - Date.now());
  if (line.type === 'task.assigned') begin(line.at);
};
const begin = (moment) => {
  begun = moment;
  at(does.doneAt, done);
  at(does.delegateAt, () => say({ type: 'delegate', requestId: 'd', expert: 'expert', prompt: 'p' }));
  at(does.usageAt, () => say({ type: 'usage', kind: 'context', remainingPercent: 9 }));
};
let rest = '';
process.stdin.on('data', (chunk) => {
  const lines = (rest + chunk).split('\\n');
  rest = lines.pop();
  for (const line of lines) take(JSON.parse(line));
});
setInterval(() => {}, 1000);
`;

export const standIn = (does: Does): readonly string[] => [
  process.execPath,
  '-e',
  PROGRAM,
  JSON.stringify(does),
];
