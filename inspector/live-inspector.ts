/**
 * Inspector of a living node: its views and those of the nodes around it, streams, commands, and a recording.
 */

import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { tryLater } from '../http/refusal.ts';
import { messageOf, RuntimeError } from '../runtime/base/errors.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { Viewer } from './access.ts';
import { parseCommand } from './command-shape.ts';
import { carryOut, WHY_NOT_MOVED } from './commands.ts';
import { Hub } from './hub.ts';
import { ClusterViews, responderOf } from './live/cluster.ts';
import { LiveContext } from './live/live-context.ts';
import { addressOf, NodeViews } from './live/node-views.ts';
import { listOf, type Parameters, textOf } from './lookup.ts';
import type { ResolvedOptions } from './options.ts';
import {
  type Capability,
  type CapabilityName,
  type CommandAnswer,
  type Hello,
  PROTOCOL_VERSION,
  type TurnsPage,
  type Watch,
} from './protocol.ts';
import { fileOf } from './recording/formats.ts';
import { Recording } from './recording/recording.ts';
import { testFileOf } from './recording/test-file.ts';
import { show } from './shown.ts';
import type { SourceFile, SourceInspector } from './source.ts';
import { FrameStream } from './stream.ts';
import { ownVersion } from './version.ts';

export class LiveInspector implements SourceInspector {
  readonly #options: ResolvedOptions;
  readonly #context: LiveContext;
  readonly #cluster: ClusterViews;
  readonly #hub: Hub;
  readonly #recording: Recording;

  constructor(runtime: Runtime, options: ResolvedOptions) {
    this.#options = options;
    const { contextBytesMax: bytesMax, redact, cluster, idleMs, role, runs } = options;
    const context = new LiveContext(runtime, { bytesMax, redact }, role, runs);
    const views = new NodeViews(context);
    this.#context = context;
    this.#cluster = new ClusterViews(views, cluster);
    this.#hub = new Hub({ context, views, cluster: this.#cluster, idleMs });
    this.#recording = new Recording(context, options);
    if (options.recordsFromStart) this.#recording.begin({ kinds: options.record.kinds });
    const { watch } = context;
    const respond = responderOf(views);
    watch.answerInspectors((query) => {
      this.#hub.touch();
      return respond(query);
    });
    watch.ended.addEventListener('abort', () => this.close(), { once: true });
  }

  now(): number {
    return this.#context.now();
  }

  hello(viewer: Viewer): Hello {
    this.#hub.touch();
    const { runtime, node, role } = this.#context;
    const { place } = runtime;
    return {
      protocol: PROTOCOL_VERSION,
      version: ownVersion(),
      at: this.now(),
      source: 'live',
      title: node === place ? node : `${node} (${place})`,
      node,
      place,
      ...(role !== undefined && { role }),
      capabilities: this.#capabilities(viewer),
      ...(this.#options.runs !== undefined && { start: '#/runs' }),
    };
  }

  async query(path: string, parameters: Parameters): Promise<object> {
    this.#hub.touch();
    const answer = await this.#cluster.query(path, parameters);
    return path === 'turns'
      ? this.#withRecorded(answer as TurnsPage, addressOf(parameters))
      : answer;
  }

  async file(name: 'recording' | 'test', parameters: Parameters): Promise<SourceFile> {
    this.#hub.touch();
    const { recorder } = this.#recording;
    if (recorder === undefined)
      throw new RuntimeError('NOT_ALLOWED', 'Nothing is recorded here: start a recording first.');
    const lines = recorder.lines(listOf(parameters, 'address'));
    if (name === 'recording') return fileOf(lines, textOf(parameters, 'format') ?? 'jsonl');
    const turn = textOf(parameters, 'turn');
    return testFileOf(lines, addressOf(parameters), turn === undefined ? undefined : Number(turn));
  }

  open(response: ServerResponse, viewer: Viewer, begin: () => void): () => void {
    const { streamsMax, streamBytesMax } = this.#options;
    if (this.#hub.streams >= streamsMax)
      throw tryLater('overloaded', `There are ${streamsMax} pages open already (streamsMax).`);
    begin();
    const stream = new FrameStream(randomUUID(), response, streamBytesMax);
    this.#hub.open(stream, this.hello(viewer));
    return () => this.#hub.closed(stream);
  }

  watch(body: unknown): void {
    const watch = parseWatch(body);
    if (this.#hub.watch(watch)) return;
    throw new RuntimeError('OPTION_INVALID', 'There is no such stream: open it again.');
  }

  command(body: unknown, viewer: Viewer): Promise<CommandAnswer> {
    this.#hub.touch();
    return carryOut(
      {
        context: this.#context,
        jobs: this.#options.jobs,
        runs: this.#options.runs,
        movesDeadlines: this.#options.deadlines,
        record: (command) =>
          command.type === 'record'
            ? this.#recording.begin(command, command.forMs)
            : this.#recording.stop(),
        newId: () => randomUUID(),
      },
      parseCommand(body),
      viewer,
    );
  }

  failed(fault: string, thrown: unknown): void {
    const stack = thrown instanceof Error ? thrown.stack : undefined;
    this.#context.watch.logger.error(
      { fault, error: messageOf(thrown), stack },
      'a request to the inspector failed',
    );
  }

  close(): void {
    this.#recording.close();
    this.#context.watch.answerInspectors(undefined);
    this.#hub.close('The node stops.');
  }

  /** True while something is collected: for tests and the log. */
  get isAwake(): boolean {
    return this.#hub.isAwake;
  }

  /** Turns with the contexts and events that are recorded. */
  #withRecorded(page: TurnsPage, address: string): object {
    const { recorder } = this.#recording;
    const recorded = recorder?.turnsOf(address) ?? [];
    if (recorder === undefined || recorded.length === 0) return page;
    const byTurn = new Map(recorded.map((line) => [line.turn, line]));
    const { rules } = this.#context;
    const { howToRecord: _, ...rest } = page;
    const turns = page.turns.map((turn) => {
      const line = byTurn.get(turn.turn);
      if (line === undefined) return turn;
      const context = recorder.contextAt(address, turn.turn);
      return {
        ...turn,
        payload: show(line.event, rules),
        ...(context !== undefined && { context: show(context.value, rules) }),
      };
    });
    const all = recorded.map(({ turn }) => turn);
    return { ...rest, turns, recorded: { from: Math.min(...all), to: Math.max(...all) } };
  }

  #capabilities({ mayCommand, why = '' }: Viewer): Hello['capabilities'] {
    const never = (text: string): Capability => ({ can: false, why: text });
    const may: Capability = mayCommand ? YES : { can: false, why };
    const { jobs, runs, deadlines } = this.#options;
    const where = (isThere: boolean, text: string): Capability => (isThere ? may : never(text));
    const cluster: Capability = this.#options.cluster
      ? YES
      : { can: false, why: 'This inspector is told to show its own node alone.' };
    const all: Record<CapabilityName, Capability> = {
      live: YES,
      contexts: YES,
      commands: may,
      send: may,
      ask: may,
      extend: where(jobs !== undefined || runs?.extend !== undefined, 'This node runs no jobs.'),
      changeDeadline: where(deadlines, WHY_NOT_MOVED),
      fireNow: where(deadlines, WHY_NOT_MOVED),
      cancel: where(jobs !== undefined, 'This node runs no jobs.'),
      runs: runs === undefined ? never('No agents and no map-reduce run here.') : YES,
      answer: where(runs?.answer !== undefined, 'Nothing is asked of humans here.'),
      letters: may,
      lifecycle: may,
      record: may,
      copyTest: YES,
      cluster,
      faults: never('Faults are for the demo.'),
      tour: never('The tour is for the demo.'),
    };
    return all;
  }
}

const YES: Capability = { can: true };

/** @throws {RuntimeError} OPTION_INVALID */
function parseWatch(body: unknown): Watch {
  const { stream, overview, lists, actors, turns } = (body ?? {}) as Partial<Watch>;
  const areTexts = (value: unknown): boolean =>
    value === undefined ||
    (Array.isArray(value) &&
      value.length <= 1_000 &&
      value.every((one) => typeof one === 'string' && one.length <= 1_024));
  const areLists =
    lists === undefined ||
    (typeof lists === 'object' &&
      lists !== null &&
      Object.values(lists).every((one) => typeof one === 'object' && one !== null));
  if (typeof stream !== 'string' || !areTexts(actors) || !areTexts(turns) || !areLists)
    throw new RuntimeError(
      'OPTION_INVALID',
      'A watch names its stream, and lists, actors and turns as in the protocol.',
    );
  if (overview !== undefined && typeof overview !== 'string')
    throw new RuntimeError('OPTION_INVALID', '"overview" of a watch is a duration such as 5m.');
  return {
    stream,
    ...(overview !== undefined && { overview }),
    ...(lists !== undefined && { lists }),
    ...(actors !== undefined && { actors }),
    ...(turns !== undefined && { turns }),
  };
}
