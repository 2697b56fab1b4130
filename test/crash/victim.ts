/**
 * The process that the crash rig kills: a node on an LMDB directory, with counters.
 *
 *   victim.js DIRECTORY NODE [--plant=early|forgetful|quitting]
 *
 * Frames and orders come over the channel to the process that started it, and it ends when that
 * channel does. A plant is a fault for proving that the rig finds it: `early` acknowledges what is
 * not stored, `forgetful` stores everything but what it has taken, `quitting`
 * ends by itself at its first charge.
 */

import { setTimeout as pause } from 'node:timers/promises';
import { createRuntime, lmdbStore } from '../../index.ts';
import type { Store } from '../../runtime/ports/store.ts';
import { directoryLease } from '../../stores/directory/lease.ts';
import { ChannelTransport } from './channel-transport.ts';
import { EarlyStore } from './early-store.ts';
import { ForgetfulStore } from './forgetful-store.ts';
import { counterMachine, visitMachine } from './machines.ts';
import { type ChannelMessage, LIMITS, PARENT, VICTIM } from './places.ts';

const LOOK_MS = 50;
const LOOKS_MAX = 600;

const [directory = '', node = '', plant] = process.argv.slice(2);
const transport = new ChannelTransport();
const post = (message: ChannelMessage) => {
  // Without a channel there is nobody to hear, and the process is about to end.
  process.send?.(message, undefined, undefined, () => {});
};

process.on('message', ({ frame, isStop }: ChannelMessage) => {
  if (frame !== undefined) transport.receive(PARENT, frame);
  if (isStop === true) void runtime.stop().then(() => process.disconnect());
});
process.on('disconnect', () => process.exit(0));

transport.attach(PARENT, (frame) => post({ frame }));
const runtime = await createRuntime({
  node,
  place: VICTIM,
  store: planted(lmdbStore(directory)),
  lease: directoryLease(directory, { node }),
  transport,
  telemetry: false,
  limits: LIMITS,
});
runtime.register('visit', visitMachine);
runtime.register('counter', counterMachine, {
  perform: {
    charge: {
      durable: true,
      run: ({ params: { token }, effectId }) => {
        if (plant === '--plant=quitting') process.exit(1);
        return runtime
          .actor(`sink/0@${PARENT}`)
          .send({ type: 'sink.charged', token, effectId } as never);
      },
    },
  },
});
// On a busy machine a lease may be over before the process comes round to using it: it is taken again.
for (let looks = 0; !runtime.isHosting; looks += 1) {
  if (looks === LOOKS_MAX) throw new Error(`${node} stands by: the directory has another owner.`);
  await pause(LOOK_MS);
}
post({ fence: runtime.metrics().fence });

function planted(store: Store): Store {
  if (plant === '--plant=early') return new EarlyStore(store);
  return plant === '--plant=forgetful' ? new ForgetfulStore(store) : store;
}
