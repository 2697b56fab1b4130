/** An expert: answers one request and leaves. */

import { createInterface } from 'node:readline';

createInterface({ input: process.stdin })
  .on('line', (text) => {
    const line = JSON.parse(text);
    if (line.type !== 'task.assigned') return;
    setTimeout(
      () =>
        process.stdout.write(`${JSON.stringify({ type: 'done', result: 'one on created_at' })}\n`),
      2_000,
    );
  })
  .on('close', () => process.exit());
