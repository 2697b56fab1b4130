/** The two processes that exchange messages, connected in both ways: nodes over a socket, and plain ws. */

import { NodeProgram } from './node-program.ts';
import { type Usage, usageOf } from './process-usage.ts';

export interface MessagePrograms {
  readonly sender: NodeProgram;
  usage(): Readonly<Record<string, Usage | null>>;
  end(): Promise<void>;
}

/** `flags` are Node's, for both. */
export async function messagePrograms(flags: readonly string[] = []): Promise<MessagePrograms> {
  const source = import.meta.resolve('./cluster-messages-program.ts');
  const receiver = new NodeProgram(source, ['receiver'], flags);
  const { url, plainUrl } = (await receiver.next<{ url: string; plainUrl: string }>()).what;
  const sender = new NodeProgram(source, ['sender', url, plainUrl], flags);
  await sender.next();
  return {
    sender,
    usage: () => ({ sender: usageOf(sender.pid), receiver: usageOf(receiver.pid) }),
    async end() {
      await sender.kill();
      await receiver.kill();
    },
  };
}
