/**
 * `createRuntime`: a runtime with the usual ports filled in.
 *
 * Without options everything is in memory and in this process: the memory store, the
 * system's clock and chance, no peers, and a lease nobody else asks for.
 */

import type { InspectorOptions } from './inspector/options.ts';
import { checkInstalledXState } from './installed-xstate.ts';
import { type KindEntries, type MachinesOf, partsOf } from './runtime/actor.ts';
import type { InspectionReader } from './runtime/base/inspection.ts';
import {
  type Logger,
  type RuntimeLimits,
  resolveLimits,
  SILENT_LOGGER,
} from './runtime/base/limits.ts';
import {
  ANYTHING,
  checkOptions,
  FLAG,
  FUNCTION,
  OBJECT,
  type OptionRule,
  port,
} from './runtime/base/option-rules.ts';
import { noTransport } from './runtime/delivery.ts';
import type { Clock } from './runtime/ports/clock.ts';
import type { Lease } from './runtime/ports/lease.ts';
import type { Random } from './runtime/ports/random.ts';
import type { Store } from './runtime/ports/store.ts';
import type { Transport } from './runtime/ports/transport.ts';
import { Runtime } from './runtime/runtime.ts';
import { systemClock } from './runtime/system/clock.ts';
import { localLease } from './runtime/system/local-lease.ts';
import { systemRandom } from './runtime/system/random.ts';
import { memoryStore } from './stores/memory.ts';
import { DiagnosticChannels } from './telemetry/diagnostics.ts';
import { findOpenTelemetry } from './telemetry/open-telemetry.ts';

export interface RuntimeOptions<TKinds extends KindEntries = KindEntries> {
  /** Name of this process among its peers. Default `node-1`. */
  readonly node?: string;
  /** Name of the place whose actors this node hosts. Default: the node's name. */
  readonly place?: string;
  /**
   * What to register at once, by kind: a machine, or `{ machine, version, perform, … }` with the options of
   * its kind. `register` checks performers against the machine besides.
   */
  readonly kinds?: TKinds;
  /**
   * Called before the node says that it is there: what is registered here, and in `kinds`, is known before the
   * first message comes. What is registered later is refused until then, and asked for again after a pause.
   */
  readonly prepare?: (runtime: Runtime<MachinesOf<TKinds>>) => void;
  /** Where records live. Default: in memory. */
  readonly store?: Store;
  /** How frames reach other nodes. Default: there are none. */
  readonly transport?: Transport;
  /** Who may host the place. Default: this process, without asking anybody. */
  readonly lease?: Lease;
  readonly clock?: Clock;
  readonly random?: Random;
  /** Limits that differ from their defaults. */
  readonly limits?: Partial<RuntimeLimits>;
  /** Compatible with pino. Default: silent; the runtime never writes to standard output by itself. */
  readonly logger?: Logger;
  /** Aborting it stops the runtime, as `stop()` does. */
  readonly signal?: AbortSignal;
  /**
   * False keeps this runtime off `node:diagnostics_channel`, and off OpenTelemetry where an SDK
   * has registered itself. Default true; `metrics()` works either way.
   */
  readonly telemetry?: boolean;
  /** Reads the inspection stream from its first record on; `runtime.inspect` begins later. */
  readonly inspect?: InspectionReader;
  /**
   * True: shows this runtime in the browser at http://127.0.0.1:7878, or the next free port; the log says which.
   * Default: off. docs/inspector.md has its options.
   */
  readonly inspector?: boolean | InspectorOptions;
  /** Told each time this node begins to host its place: at the start, and after a takeover. */
  readonly onHosting?: (fence: number) => void;
  /** Told each time this node has ceased to host it because the lease was lost. */
  readonly onHostingEnded?: (fence: number) => void;
  /**
   * Told when the store has failed and nobody knows what of the last commit is on disk; the runtime
   * has ended then. Default: says so on standard error and ends the process with exit code 74.
   */
  readonly onFatal?: (failure: Error) => void;
}

/** Names of nodes and places, limits and kinds are checked where they are used, in words of their own. */
const RULES: Required<{ readonly [name in keyof RuntimeOptions]: OptionRule }> = {
  node: ANYTHING,
  place: ANYTHING,
  kinds: OBJECT,
  prepare: FUNCTION,
  store: port('a store, such as lmdbStore(directory)', 'open', 'load', 'commit', 'query', 'close'),
  transport: port('a transport, such as websocketTransport(…)', 'start', 'send', 'peers', 'stop'),
  lease: port('a lease, such as directoryLease(directory)', 'hold'),
  clock: port('a clock', 'now', 'schedule', 'defer'),
  random: port('a source of chance', 'next', 'id'),
  limits: OBJECT,
  logger: port('a logger, such as pino()', 'debug', 'info', 'warn', 'error'),
  signal: port('an AbortSignal', 'addEventListener'),
  telemetry: FLAG,
  inspect: FUNCTION,
  inspector: ANYTHING,
  onHosting: FUNCTION,
  onHostingEnded: FUNCTION,
  onFatal: FUNCTION,
};

/** @throws {RuntimeError} OPTION_INVALID, ABORTED, XSTATE_UNSUPPORTED */
export async function createRuntime<TKinds extends KindEntries = Record<never, never>>(
  options: RuntimeOptions<TKinds> = {},
): Promise<Runtime<MachinesOf<TKinds>>> {
  checkOptions('createRuntime', options, RULES);
  const { node = 'node-1', place = node, store = memoryStore(), signal } = options;
  const logger = options.logger ?? SILENT_LOGGER;
  checkInstalledXState(logger);
  const isWatched = options.telemetry !== false;
  const channels = new DiagnosticChannels();
  // Loaded before the node starts, so that no turn of it is missed.
  const openTelemetry = isWatched ? await findOpenTelemetry(logger) : undefined;
  const runtime = await Runtime.start({
    node,
    place,
    store,
    clock: options.clock ?? systemClock(),
    random: options.random ?? systemRandom(),
    transport: options.transport ?? noTransport(),
    lease: options.lease ?? localLease(),
    limits: resolveLimits(options.limits),
    logger,
    fatal: options.onFatal ?? endProcess,
    hosting: options.onHosting,
    hostingEnded: options.onHostingEnded,
    signal,
    attend: isWatched ? channels.attend : undefined,
    inspect: options.inspect,
    prepare: (spawned) => {
      for (const [name, entry] of Object.entries(options.kinds ?? {})) {
        const { machine, options: kindOptions } = partsOf(name, entry);
        spawned.register(name, machine, kindOptions as never);
      }
      options.prepare?.(spawned as unknown as Runtime<MachinesOf<TKinds>>);
    },
  });
  channels.closeWith(Runtime.watchOf(runtime as never).ended);
  openTelemetry?.(runtime);
  const { inspector = false } = options;
  if (inspector !== false) await inspected(runtime, inspector);
  return runtime as unknown as Runtime<MachinesOf<TKinds>>;
}

/** Serves the inspector; a runtime whose inspector cannot be had is stopped again. */
async function inspected(runtime: Runtime, inspector: true | InspectorOptions): Promise<void> {
  try {
    // Loaded only where it is wanted.
    const { serveInspector } = await import('./inspector/serve.ts');
    await serveInspector(runtime as never, inspector === true ? {} : inspector);
  } catch (thrown) {
    await runtime.stop();
    throw thrown;
  }
}

const EXIT_IO = 74;

function endProcess(failure: Error): never {
  process.stderr.write(`escapement: ${failure.message}\n`);
  process.exit(EXIT_IO);
}
