/**
 * Program of a node: starts the gate, the manager, the worker, or the actors of one's own kinds that
 * its configuration says.
 *
 * The parts that it is handed are started with it, and end with it.
 */

import { createRuntime } from '../../create-runtime.ts';
import type { ApiProgram } from '../../http/route.ts';
import { type Gate, startGate } from '../../programs/jobs/gate.ts';
import { type Manager, startManager } from '../../programs/jobs/manager.ts';
import { type JobWorker, startWorker } from '../../programs/jobs/worker.ts';
import type { Logger } from '../../runtime/base/limits.ts';
import type { Transport } from '../../runtime/ports/transport.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { prometheusText } from '../../telemetry/prometheus.ts';
import { loadHandlers } from './handlers-module.ts';
import { loadKinds } from './own-kinds.ts';
import type { NodeClient } from './proofs.ts';
import type { NodeConfiguration } from './resolve.ts';
import type { Storage } from './storage.ts';

export interface ProgramParts {
  readonly transport: Transport;
  readonly storage: Storage;
  /** As they are now: they can change while the node runs. */
  readonly clients: () => readonly NodeClient[] | undefined;
  readonly logger: Logger;
  readonly hosting: (fence: number) => void;
  readonly fatal: (failure: Error) => void;
}

/** A program that has started. */
export interface Program {
  /** Program that the HTTP API speaks for; nothing for a worker. */
  readonly api: ApiProgram | undefined;
  readonly runtime: Runtime<never>;
  metrics(): string;
  stop(): Promise<void>;
  /** Resolves with why the program has ended by itself; of a worker only. */
  readonly refused: Promise<string> | undefined;
}

/** @throws {RuntimeError} OPTION_INVALID @throws {CommandFailure} */
export function startProgram(
  configuration: NodeConfiguration,
  parts: ProgramParts,
): Promise<Program> {
  switch (configuration.role) {
    case 'gate':
      return asGate(configuration, parts);
    case 'manager':
      return asManager(configuration, parts);
    case 'worker':
      return asWorker(configuration, parts);
    case 'node':
      return asNode(configuration, parts);
  }
}

async function asGate(configuration: NodeConfiguration, parts: ProgramParts): Promise<Program> {
  const { node, place, datacenters } = configuration;
  const gate = await startGate({
    gate: place,
    node,
    datacenters,
    ...sharedOptions(configuration, parts),
  });
  return programOf(gate);
}

async function asManager(configuration: NodeConfiguration, parts: ProgramParts): Promise<Program> {
  const { node, datacenter, gates } = configuration;
  const manager = await startManager({
    datacenter,
    manager: node,
    gates,
    ...sharedOptions(configuration, parts),
  });
  return programOf(manager);
}

function sharedOptions(configuration: NodeConfiguration, parts: ProgramParts) {
  const { transport, storage, clients, logger, hosting, fatal } = parts;
  const { store, lease } = storage;
  // One limit, whichever way a client comes.
  const { requestsPerMinute } = configuration.limits.http;
  return {
    config: configuration.jobs,
    clients,
    transport,
    logger,
    onHosting: hosting,
    onFatal: fatal,
    ...(requestsPerMinute !== undefined && { clientRequestsPerMinute: requestsPerMinute }),
    ...(store !== undefined && { store }),
    ...(lease !== undefined && { lease }),
  };
}

function programOf(api: Gate | Manager): Program {
  return {
    api,
    runtime: api.runtime as never,
    metrics: () => prometheusText(api.runtime) + api.counters.text(),
    stop: () => api.stop(),
    refused: undefined,
  };
}

async function asNode(configuration: NodeConfiguration, parts: ProgramParts): Promise<Program> {
  const { node, place, limits, stopLimitMs } = configuration;
  const { transport, storage, clients, logger, hosting, fatal } = parts;
  const { store, lease } = storage;
  const { requestsPerMinute } = limits.http;
  const found = await loadKinds(configuration.kinds, clients, logger);
  const runtime = await createRuntime({
    node,
    place,
    kinds: found.kinds,
    transport,
    logger,
    // What is said beside the node counts more than what the module says of itself.
    limits: {
      drainMs: Math.max(1, stopLimitMs),
      ...(requestsPerMinute !== undefined && { clientMessagesPerMinute: requestsPerMinute }),
      ...found.limits,
      ...limits.runtime,
    },
    onHosting: hosting,
    onFatal: fatal,
    ...(store !== undefined && { store }),
    ...(lease !== undefined && { lease }),
  });
  return {
    api: { runtime },
    runtime: runtime as never,
    metrics: () => prometheusText(runtime),
    stop: () => runtime.stop(),
    refused: undefined,
  };
}

async function asWorker(configuration: NodeConfiguration, parts: ProgramParts): Promise<Program> {
  const { node, datacenter, cores, handlers, extend, stopLimitMs } = configuration;
  const { allowShell, shellVariables } = configuration;
  const worker: JobWorker = await startWorker({
    worker: node,
    datacenter,
    cores,
    ...(handlers !== undefined && { handlers: await loadHandlers(handlers) }),
    config: configuration.jobs,
    transport: parts.transport,
    logger: parts.logger,
    extend,
    allowShell,
    shellVariables,
    stopLimitMs,
  });
  return {
    api: undefined,
    runtime: worker.runtime as never,
    metrics: () => prometheusText(worker.runtime) + worker.counters.text(),
    stop: () => worker.stop(),
    refused: refusalOf(worker),
  };
}

/** Never resolves when the worker was stopped in order. */
function refusalOf({ ended }: JobWorker): Promise<string> {
  return new Promise((resolve) => {
    void ended.then(({ refusal }) => {
      if (refusal !== null) resolve(refusal);
    });
  });
}
