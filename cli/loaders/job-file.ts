/**
 * Job file: a job to submit, in YAML or JSON: the body of the HTTP API, or the same with
 * durations and shorter names as people write them.
 *
 * Guarantees: what is wrong is told with line, column and path, ten mistakes at once. What a node
 * has to judge (whether a handler exists, whether workflows go in circles) is left to it.
 */

import { readFileSync, statSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { CORES_MAX } from '../../machines/jobs/messages/client.ts';
import { TIMEOUT_MS_MAX } from '../../machines/jobs/messages/fields.ts';
import { QUORUMS } from '../../machines/jobs/words.ts';
import type { NewJob, NewWorkflow } from '../../programs/jobs/client.ts';
import { JOBS_OPTIONS } from '../../programs/jobs/configuration/options.ts';
import { Field } from '../../reading/field.ts';
import { Issues } from '../../reading/issues.ts';
import { readSource, SOURCE_LIMITS } from '../../reading/source.ts';
import { CommandFailure, EXIT } from '../exit.ts';
import { grouped } from '../render/output.ts';

/** As much as a node takes. */
const BYTES_MAX = 16 * 1024 * 1024;
const TIMEOUT = { min: 1, max: TIMEOUT_MS_MAX };
const CORES = { min: 1, max: CORES_MAX };

const JOB_KEYS = {
  id: false,
  jobId: false,
  timeout: false,
  timeoutMs: false,
  datacenters: false,
  targetDatacenters: false,
  stuckThreshold: false,
  stuckThresholdMs: false,
  allStuckThreshold: false,
  allStuckThresholdMs: false,
  datacenterTimeoutQuorum: false,
  failFast: false,
  enforce: false,
  workflows: true,
} as const;

const WORKFLOW_KEYS = {
  id: true,
  handler: true,
  payload: false,
  cores: false,
  dependsOn: false,
} as const;

/** Part of a job that a file says; flags may say the rest. */
export type PartialJob = Omit<NewJob, 'timeoutMs'> & { readonly timeoutMs?: number };

/** `-` is standard input. @throws {CommandFailure}, {RuntimeError} SCENARIO_INVALID */
export async function readJobFile(path: string, input: Readable | undefined): Promise<PartialJob> {
  const isInput = path === '-';
  const bytes = isInput ? await readInput(input) : readFile(path);
  return parseJobFile(textOf(bytes, path), isInput ? 'standard input' : path);
}

/** @throws {RuntimeError} SCENARIO_INVALID */
export function parseJobFile(text: string, file: string): PartialJob {
  const issues = new Issues(text, file);
  const limits = { ...SOURCE_LIMITS, charactersMax: BYTES_MAX };
  const source = readSource(text, issues, limits);
  issues.throwIfAny();
  const job = source && readJob(new Field(source, '', issues));
  issues.throwIfAny();
  return job as PartialJob;
}

function readJob(field: Field): PartialJob | undefined {
  const keys = field.record(JOB_KEYS);
  if (keys === undefined) return undefined;
  const one = (first: Field | undefined, second: Field | undefined): Field | undefined => {
    if (first !== undefined && second !== undefined)
      second.wrong(`says the same as "${first.path}"; write one of the two`);
    return first ?? second;
  };
  const jobId = one(keys.jobId, keys.id)?.id();
  const timeoutMs = one(keys.timeoutMs, keys.timeout)?.duration(TIMEOUT);
  const targets = one(keys.targetDatacenters, keys.datacenters);
  const targetDatacenters = targets?.items().flatMap((item) => item.id() ?? []);
  const stuckThresholdMs = one(keys.stuckThresholdMs, keys.stuckThreshold)?.duration(
    JOBS_OPTIONS.stuckThresholdMs,
  );
  const allStuck = one(keys.allStuckThresholdMs, keys.allStuckThreshold);
  const allStuckThresholdMs = allStuck?.duration(JOBS_OPTIONS.allStuckThresholdMs);
  const datacenterTimeoutQuorum = keys.datacenterTimeoutQuorum?.word(QUORUMS);
  const failFast = keys.failFast?.flag();
  const enforce = keys.enforce?.flag();
  const workflows = keys.workflows?.items().flatMap((item) => readWorkflow(item) ?? []) ?? [];
  return {
    ...(jobId !== undefined && { jobId }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(targetDatacenters !== undefined && { targetDatacenters }),
    ...(stuckThresholdMs !== undefined && { stuckThresholdMs }),
    ...(allStuckThresholdMs !== undefined && { allStuckThresholdMs }),
    ...(datacenterTimeoutQuorum !== undefined && { datacenterTimeoutQuorum }),
    ...(failFast !== undefined && { failFast }),
    ...(enforce !== undefined && { enforce }),
    workflows,
  };
}

function readWorkflow(field: Field): NewWorkflow | undefined {
  const keys = field.record(WORKFLOW_KEYS);
  if (keys === undefined) return undefined;
  const id = keys.id?.id();
  const handler = keys.handler?.id();
  const payload = payloadOf(keys.payload);
  const cores = keys.cores?.whole(CORES);
  const dependsOn = keys.dependsOn?.items().flatMap((item) => item.id() ?? []);
  if (id === undefined || handler === undefined) return undefined;
  return {
    id,
    handler,
    ...(payload !== undefined && { payload }),
    ...(cores !== undefined && { cores }),
    ...(dependsOn !== undefined && { dependsOn }),
  };
}

/** A text as it is; anything else as JSON, which is what handlers parse most. */
function payloadOf(field: Field | undefined): string | undefined {
  if (field === undefined) return undefined;
  const value = field.plain();
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function readFile(path: string): Uint8Array {
  const stats = statSync(path);
  if (!stats.isFile()) throw new CommandFailure(EXIT.badData, `${path}: is no file.`);
  if (stats.size > BYTES_MAX) throw tooLarge(path);
  return readFileSync(path);
}

async function readInput(input: Readable | undefined): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (input ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > BYTES_MAX) throw tooLarge('standard input');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function tooLarge(file: string): CommandFailure {
  const what = `${file}: has more than ${grouped(BYTES_MAX)} bytes, and a job has at most that.`;
  return new CommandFailure(EXIT.badData, what);
}

function textOf(bytes: Uint8Array, file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new CommandFailure(EXIT.badData, `${file}: is no text in UTF-8.`);
  }
}
