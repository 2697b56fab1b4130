/**
 * Node: how its parts are put together, and in which order they go.
 *
 * Guarantees: it listens before anything else is opened, so a port that cannot be had leaves
 * nothing half started, and what was opened is closed again when a later part fails. It says that
 * it takes no work before it stops taking any, and what it has is brought to an end or to disk.
 */

import type { RequestListener } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { createHttpHandler, type HttpHandler } from '../../http/api.ts';
import type { InspectorHandler } from '../../inspector/mount.ts';
import { Counters } from '../../programs/jobs/counters.ts';
import { RuntimeError } from '../../runtime/base/errors.ts';
import { systemClock } from '../../runtime/system/clock.ts';
import type { WebSocketTransport } from '../../transports/websocket.ts';
import { CommandFailure, EXIT } from '../exit.ts';
import { CertificateWatch } from './certificate-watch.ts';
import { limitsWithin, readDescriptors } from './descriptors.ts';
import { nodeInspector, withInspector } from './inspector.ts';
import { type Listener, openListener } from './listener.ts';
import type { NodeLog } from './log.ts';
import { probesHandler } from './probes.ts';
import { type Program, startProgram } from './program.ts';
import type { NodeClient } from './proofs.ts';
import type { NodeConfiguration } from './resolve.ts';
import { openSockets } from './sockets.ts';
import { openStorage, type Storage } from './storage.ts';

export interface RunningNode {
  /** Stops taking work, brings to an end what it has, and closes everything. Idempotent. */
  drain(): Promise<void>;
  /** Takes over who may come, and what is logged. Everything else stays as it was. */
  reload(configuration: NodeConfiguration): void;
  /** Resolves with the reason when the node cannot go on. */
  readonly failed: Promise<Error>;
}

/** Time that requests under way have when the node ends. */
const ANSWERS_MS = 5_000;

type State = 'starting' | 'ready' | 'draining';

/** @throws {CommandFailure} @throws {RuntimeError} when it cannot be started; nothing is left of it then. */
export async function startNode(
  configuration: NodeConfiguration,
  log: NodeLog,
): Promise<RunningNode> {
  const limits = limitsWithin(configuration.limits, readDescriptors(), log.logger);
  const node = new AssembledNode({ ...configuration, limits }, log);
  try {
    await node.start();
  } catch (thrown) {
    await node.close();
    if (!(thrown instanceof RuntimeError) || thrown.code !== 'OPTION_INVALID') throw thrown;
    throw new CommandFailure(EXIT.configuration, thrown.message, { cause: thrown });
  }
  return node;
}

class AssembledNode implements RunningNode {
  readonly failed: Promise<Error>;
  readonly #configuration: NodeConfiguration;
  readonly #log: NodeLog;
  #fail!: (failure: Error) => void;
  readonly #certificate: CertificateWatch | undefined;
  #state: State = 'starting';
  #clients: readonly NodeClient[] | undefined;
  #listener: Listener | undefined;
  #storage: Storage | undefined;
  #sockets: WebSocketTransport | undefined;
  #program: Program | undefined;
  #handler: HttpHandler | undefined;
  #inspector: InspectorHandler | undefined;
  #draining: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(configuration: NodeConfiguration, log: NodeLog) {
    this.#configuration = configuration;
    this.#log = log;
    this.#clients = configuration.clients;
    const { tls } = configuration;
    this.#certificate =
      tls && new CertificateWatch({ ...tls, clock: systemClock(), logger: log.logger });
    this.failed = new Promise((resolve) => {
      this.#fail = resolve;
    });
  }

  async start(): Promise<void> {
    const configuration = this.#configuration;
    const { listen, role, node, place } = configuration;
    const { logger } = this.#log;
    this.#certificate?.start();
    if (listen !== undefined)
      this.#listener = await openListener(listen, { ...configuration, logger }, this.#probes());
    const { leaseMs = configuration.jobs.leaseMs } = configuration;
    this.#storage = await openStorage({ ...configuration, leaseMs }, logger);
    this.#sockets = openSockets(configuration, {
      server: this.#listener?.server,
      clients: () => this.#clients,
      logger,
      superseded: (peer) => this.#fail(supersededFailure(node, peer)),
      namesake: () => this.#fail(namesakeFailure(node)),
    });
    let isHosting = role === 'worker';
    const program = await startProgram(configuration, {
      transport: this.#sockets,
      storage: this.#storage,
      clients: () => this.#clients,
      logger,
      hosting: (fence) => {
        isHosting = true;
        logger.info({ event: 'node.hosting', role, place, fence }, 'leads');
      },
      fatal: (failure) => this.#fail(failure),
    });
    this.#program = program;
    void program.refused?.then((reason) => {
      const what = `The datacenter does not take this worker: ${reason}.`;
      this.#fail(new CommandFailure(EXIT.broken, what));
    });
    this.#answer();
    this.#state = 'ready';
    const url = this.#listener?.url;
    logger.info({ event: 'node.listening', node, role, place, url }, 'listening');
    if (!isHosting) logger.info({ event: 'node.standingBy', role, place }, 'stands by');
  }

  reload(configuration: NodeConfiguration): void {
    const { clients, log } = configuration;
    this.#clients = clients;
    this.#log.setLevel(log.level);
    this.#sockets?.recheckClients();
    const fields = { event: 'node.reloaded', clients: clients?.length, level: log.level };
    this.#log.logger.info(fields, 'took over the tokens and the level of the log');
    const settings = differing(this.#configuration, configuration);
    if (settings.length > 0)
      this.#log.logger.warn(
        { event: 'configuration.warning', settings },
        'these settings have changed and are taken over at the next start',
      );
  }

  drain(): Promise<void> {
    this.#draining ??= this.#drain();
    return this.#draining;
  }

  async #drain(): Promise<void> {
    const { logger } = this.#log;
    this.#state = 'draining';
    logger.info({ event: 'node.draining' }, 'takes no more work');
    await this.close();
    logger.info({ event: 'node.stopped', lostLines: this.#log.lost || undefined }, 'stopped');
  }

  /** Idempotent, and whatever is open by then is closed. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#state = 'draining';
    this.#inspector?.close();
    // A client that has asked gets the answer, and nobody may ask for ever.
    await Promise.race([this.#handler?.close(), delay(ANSWERS_MS, undefined, { ref: false })]);
    this.#certificate?.stop();
    await this.#program?.stop();
    await this.#listener?.close();
    this.#storage?.close();
  }

  /** Answers with the inspector and the HTTP API from now on, or with probes where there is none. */
  #answer(): void {
    const { api, runtime } = this.#program ?? {};
    if (runtime === undefined || this.#listener === undefined) return;
    const { role, hosts, record, data, limits } = this.#configuration;
    const { logger } = this.#log;
    const tokens = (): readonly NodeClient[] | undefined => this.#clients;
    this.#inspector = nodeInspector({
      ...{ runtime, api, role, tokens, hosts, logger },
      ...(record && {
        record: { ...limits.recording, ...(data !== undefined && { directory: data }) },
      }),
    });
    if (api === undefined) {
      this.#listener.answerWith(withInspector(this.#inspector, this.#probes()));
      return;
    }
    this.#handler = createHttpHandler({
      program: api,
      tokens,
      hosts,
      ownHosts: true,
      isReady: () => this.#state === 'ready',
      details: () => this.#details(),
      metrics: () => this.#ownMetrics(),
      limits: this.#configuration.limits.http,
      logger,
    });
    this.#listener.answerWith(withInspector(this.#inspector, this.#handler));
  }

  #probes(): RequestListener {
    const metrics = () => (this.#program?.metrics() ?? '') + this.#ownMetrics();
    const { role, hosts } = this.#configuration;
    return probesHandler({
      state: () => this.#state,
      details: () => this.#details(),
      metrics,
      tokens: () => this.#clients,
      ...(role !== 'worker' && { hosts }),
      logger: this.#log.logger,
    });
  }

  #details(): object {
    const certificate = this.#certificate?.view;
    return certificate === undefined ? {} : { certificate };
  }

  #ownMetrics(): string {
    const counters = new Counters();
    for (const [name, value] of Object.entries(this.#sockets?.counters() ?? {}))
      counters.observe(metricName('socket', name), () => value);
    for (const [name, value] of Object.entries(this.#listener?.counts() ?? {}))
      counters.observe(metricName('http', name), () => value);
    const descriptors = readDescriptors();
    if (descriptors !== undefined) {
      counters.observe('process_open_fds', () => descriptors.open);
      counters.observe('process_max_fds', () => descriptors.max);
    }
    counters.add('escapement_log_lines_lost_total', {}, this.#log.lost);
    const certificate = this.#certificate;
    if (certificate !== undefined)
      counters.observe('escapement_certificate_left_seconds', () =>
        Math.floor(certificate.leftMs / 1_000),
      );
    return counters.text();
  }
}

/** Settings, certificates and secrets among them, that a reload has read and not taken over. */
function differing(before: NodeConfiguration, now: NodeConfiguration): readonly string[] {
  return Object.keys(now).filter((name) => {
    const [one, other] = [before, now].map(
      (all) => (all as unknown as Record<string, unknown>)[name],
    );
    return !RELOADED.has(name) && !isDeepStrictEqual(one, other);
  });
}

/** Parts that a reload takes over, and those that are for the person who starts the node. */
const RELOADED: ReadonlySet<string> = new Set(['clients', 'log', 'warnings']);

function supersededFailure(node: string, peer: string): CommandFailure {
  const what = `A process that was started later is called "${node}" too, and ${peer} is connected to it. Give one of them a name of its own, by --node.`;
  return new CommandFailure(EXIT.locked, what);
}

function namesakeFailure(node: string): CommandFailure {
  const what = `A peer of this process is called "${node}" too, and was started before. Give one of them a name of its own, by --node.`;
  return new CommandFailure(EXIT.locked, what);
}

/** Numbers of what is there now; the others only rise. */
const GAUGES: ReadonlySet<string> = new Set(['links', 'connectionsOpen']);

/** `framesSent` of a socket → `escapement_socket_frames_sent_total`; what is there now has no `_total`. */
function metricName(of: 'socket' | 'http', counter: string): string {
  const words = counter.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return `escapement_${of}_${words}${GAUGES.has(counter) ? '' : '_total'}`;
}
