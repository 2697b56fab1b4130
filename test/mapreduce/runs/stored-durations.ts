/** Runs on record whose attempts took exactly as long as a test says: the machines on a pretend clock, put into a real store. */

import { writeFileSync } from 'node:fs';
import { agentAddress, runAddress } from '../../../machines/mapreduce/addresses.ts';
import { mapAgentMachine } from '../../../machines/mapreduce/map-agent.ts';
import { runMachine } from '../../../machines/mapreduce/run.ts';
import { writeItems } from '../../../programs/mapreduce/items.ts';
import { hashOf, prepare } from '../../../programs/mapreduce/run.ts';
import { RunFolder } from '../../../programs/mapreduce/run-folder.ts';
import { rulesOf } from '../../../programs/mapreduce/run-rules.ts';
import type { ActorWrite, Store } from '../../../runtime/ports/store.ts';
import { testRuntime } from '../../../simulator/testing.ts';
import { lmdbStore } from '../../../stores/lmdb.ts';
import { memoryStore } from '../../../stores/memory.ts';

interface Params {
  readonly runId: string;
  readonly agentId: string;
  readonly itemIndex: number;
  readonly index: number;
}

/** One item for each duration; every command of it takes that long. */
export async function storeRun(
  { data, file, runId = 'stored' }: { data: string; file: string; runId?: string },
  durationsMs: readonly number[],
): Promise<void> {
  const { workflow, limits, text } = prepare(file);
  const folder = new RunFolder(data, runId);
  folder.make();
  writeItems(
    folder.itemsPath,
    durationsMs.map((_, index) => ({ itemId: `item_${index}`, value: index })),
  );
  writeFileSync(folder.workflowPath, text);
  const later = (ms: number, task: () => void) => rt.clock.schedule(rt.now() + ms, task);
  const tell = ({ runId: run, agentId }: Params, event: object): void =>
    void rt
      .actor(agentAddress(run, agentId))
      .send(event as never)
      .catch(() => {});
  const end = (params: Params, exitCode: number) =>
    tell(params, {
      type: 'command.ended',
      index: params.index,
      exitCode,
      signal: null,
      isClean: true,
      isQuota: false,
    });
  const played = memoryStore();
  const ties = 'timers' as const;
  const note = () => {};
  const kinds = { mapreduce: runMachine, 'map-agent': mapAgentMachine };
  const rt = await testRuntime<typeof kinds>({
    kinds,
    place: 'mapreduce',
    store: played,
    options: {
      mapreduce: {
        ties,
        perform: {
          note,
          keepFailure: {
            durable: true,
            run: async ({
              params,
              send,
            }: {
              params: Params;
              send: (event: object) => Promise<void>;
            }) => send({ type: 'failure.kept', itemIndex: params.itemIndex }),
          },
        },
      },
      'map-agent': {
        ties,
        perform: {
          note,
          prepare: () => {},
          startCommand: ({ params }: { params: Params }) =>
            later(durationsMs[params.itemIndex] ?? 0, () => end(params, 0)),
          signalGroup: ({ params }: { params: Params }) =>
            tell(params, { type: 'group.emptied', killed: false }),
          killGroup: ({ params }: { params: Params }) =>
            tell(params, { type: 'group.emptied', killed: true }),
          cleanUp: ({ params }: { params: Params }) =>
            tell(params, { type: 'cleanup.finished', failure: null, worktree: null }),
        },
      },
    } as never,
  });
  const about = {
    workflowFile: file,
    workflowHash: hashOf(text),
    monitoring: true,
    warnings: [],
    git: null,
  };
  const rules = rulesOf(workflow, limits, durationsMs.length, {});
  await rt.spawn(runAddress(runId), { input: { runId, rules, about } } as never);
  await rt.advance(3_600_000);
  await copy(played, lmdbStore(data));
  await rt.stop();
}

async function copy(from: Store, to: Store): Promise<void> {
  await to.open();
  const writes = [...from.entries()].map(([address, entry]): ActorWrite => {
    const rows = new Map<string, Map<string, string>>();
    for (const [table, key, row] of from.rows(address))
      rows.set(table, (rows.get(table) ?? new Map<string, string>()).set(key, row));
    return { address, record: from.load(address) ?? null, entry, rows, history: [] };
  });
  await new Promise<void>((resolve, reject) =>
    to.commit({ shard: 'mapreduce', fence: 1, writes }, (refusal) =>
      refusal === undefined ? resolve() : reject(refusal),
    ),
  );
  await to.close();
}
