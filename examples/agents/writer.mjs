/** A whole agent: asks an expert and a human, answers requests of checkpoints, and says when it is done. */

import { createInterface } from 'node:readline';

const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
const done = [];
let task;
let step = 0;

function work() {
  step += 1;
  done.push(`step ${step}`);
  say({ type: 'progress', message: `${task.taskId}: step ${step} of 4`, percent: step * 25 });
  if (step === 2 && task.taskId === 'schema')
    say({ type: 'delegate', requestId: 'd1', expert: 'sql', prompt: 'Which index?' });
  else if (step === 2)
    say({
      type: 'ask',
      requestId: 'a1',
      question: 'Which units?',
      options: ['metric', 'imperial'],
    });
  else if (step < 4) setTimeout(work, 1_500);
  else say({ type: 'done', result: { steps: done } });
}

createInterface({ input: process.stdin })
  .on('line', (text) => {
    const line = JSON.parse(text);
    if (line.type === 'task.assigned') {
      task = line;
      setTimeout(work, 500);
    } else if (line.type === 'checkpoint.requested')
      say({
        type: 'checkpoint',
        requestId: line.requestId,
        status: `step ${step}`,
        completed: done,
      });
    else if (line.type === 'expert.answered' || line.type === 'human.answered') {
      done.push(`was told ${JSON.stringify(line.answer ?? line.reason)}`);
      setTimeout(work, 500);
    }
  })
  .on('close', () => process.exit());
