/**
 * Run of a node until it ends, and the meaning of signals to it.
 *
 * The first SIGTERM or SIGINT, or the end of its parent process, has the node drain: exit 0. The
 * second signal ends it at once. SIGHUP has it read its configuration again, unless it runs at a
 * terminal: then it is a first signal too. An error that nobody caught ends it too: nobody knows then what
 * still holds, but what is on disk does.
 */

import type { Readable } from 'node:stream';
import closeWithGrace from 'close-with-grace';
import { messageOf } from '../../runtime/base/errors.ts';
import { EXIT } from '../exit.ts';
import { SIGNAL_EXITS } from '../signals.ts';
import type { Host } from './host.ts';
import type { NodeLog } from './log.ts';
import { type RunningNode, startNode } from './node.ts';
import type { NodeConfiguration } from './resolve.ts';

export interface Around {
  readonly log: NodeLog;
  readonly host: Host;
  /** The configuration as it is now. */
  read(): NodeConfiguration;
  /** Pipe whose other end is held by the process that started this one. */
  readonly parent: Readable | undefined;
}

/** Time beyond its limit that a node may take to end before it counts as hung. */
const DRAIN_MARGIN_MS = 60_000;

/** Everything but those and the errors that nobody caught. */
const OTHER_EVENTS = [
  'SIGQUIT',
  'SIGILL',
  'SIGTRAP',
  'SIGABRT',
  'SIGBUS',
  'SIGFPE',
  'SIGSEGV',
  'SIGUSR2',
  'beforeExit',
] as const;

/** Resolves with what ended the node by itself; one that ends in order ends the process. */
export async function runNode(
  configuration: NodeConfiguration,
  { log, host, read, parent }: Around,
): Promise<unknown> {
  const starting = startNode(configuration, log);
  const end = (exitCode: number): never => {
    log.flush();
    return host.exit(exitCode);
  };
  const failed = (thrown: unknown): never => {
    log.logger.error({ event: 'node.failed', error: stackOf(thrown) }, 'failed inside');
    return end(EXIT.internal);
  };
  // At a terminal it says that the terminal is gone, elsewhere that there is something new to read.
  const isAtTerminal = host.stdout.isTTY === true;
  if (!isAtTerminal)
    host.on('SIGHUP', () => {
      starting.then(
        (node) => reload(node, log, read),
        () => {},
      );
    });
  const signals = closeWithGrace(
    {
      delay: configuration.stopLimitMs + DRAIN_MARGIN_MS,
      logger: false,
      skip: isAtTerminal ? [...OTHER_EVENTS] : [...OTHER_EVENTS, 'SIGHUP'],
      onSecondSignal: (signal) => void end(SIGNAL_EXITS[signal] ?? EXIT.internal),
      onSecondError: (thrown) => void failed(thrown),
      onTimeout: () => void failed(new Error('The node did not come to an end.')),
    },
    async ({ err }) => {
      if (err !== undefined) failed(err);
      const node = await starting.catch(() => undefined);
      // The caller that waits for a node tells of one that could not be started.
      if (node === undefined) return new Promise(() => {});
      await node.drain().catch(failed);
      await log.written();
      end(EXIT.done);
    },
  );
  // It ends with the process that started this one, however that ends. A pipe closes, a file only ends.
  let isOrphaned = false;
  const orphaned = (): void => {
    if (!isOrphaned) signals.close();
    isOrphaned = true;
  };
  for (const event of ['end', 'close', 'error']) parent?.once(event, orphaned);
  parent?.resume();
  try {
    const node = await starting;
    return await node.failed;
  } catch (thrown) {
    return thrown;
  } finally {
    signals.uninstall();
  }
}

/** Reloads the configuration; one that cannot be read changes nothing. */
function reload(node: RunningNode, log: NodeLog, read: () => NodeConfiguration): void {
  try {
    node.reload(read());
  } catch (thrown) {
    const fields = { event: 'configuration.refused', error: messageOf(thrown) };
    log.logger.error(fields, 'the configuration stays as it was');
  }
}

function stackOf(thrown: unknown): string {
  return thrown instanceof Error ? (thrown.stack ?? thrown.message) : messageOf(thrown);
}
