/** Planted bugs: what an actor, or its gate, does in a life that knows nothing of the one before. */

import type { Plant } from './plant.ts';

const BEGINS = 'this.counter = Math.max(0, Math.floor(at));';

export const lifePlants: readonly Plant[] = [
  {
    id: 'P240',
    area: 'runtime',
    says: 'An actor begins its numbers at the time of its spawn only where another place spawns it.',
    edits: [
      { file: 'runtime/actor/outbox.ts', find: BEGINS, replace: '' },
      {
        file: 'runtime/shard/entrance.ts',
        find: 'population.enter(actor);',
        replace: 'population.enter(actor, message.from);',
      },
      {
        file: 'runtime/shard/population.ts',
        find: '  enter(actor: Actor): void {\n',
        replace: `  enter(actor: Actor, from?: string): void {
    if (from?.includes('@') && placeOf(from) !== this.#services.place)
      actor.outbox.counter = this.#services.clock.now();
`,
      },
    ],
    plan: 'written-MS-16.json',
  },
  {
    id: 'P241',
    area: 'gate',
    says: 'A gate that lost a job and is given it again is not told that a datacenter had ended it before.',
    edits: [
      {
        file: 'programs/jobs/gate/dispatch.ts',
        find: "...(isOutcome(answer.status ?? 'submitted') && { hasEnded: true }),",
        replace: '',
      },
    ],
    plan: '310061-OUT-3.json',
  },
  {
    id: 'P242',
    area: 'runtime',
    says: 'Effects of an actor that is spawned again have the ids that those of its earlier life had.',
    edits: [
      {
        file: 'runtime/shard/sharing.ts',
        find: '.${pending.length}.${at}`',
        replace: '.${pending.length}`',
      },
    ],
    suite: 'test/delivery/durable-effects.test.ts',
  },
  {
    id: 'P243',
    area: 'gate',
    says: 'A gate that comes back after the limit for dispatching ends a job that it has asked nobody to take.',
    edits: [
      {
        file: 'machines/jobs/gate-job/joining.ts',
        find: '? {} : { askedSince: at };',
        replace: '? {} : { askedSince: 0 * at };',
      },
    ],
    suite: 'test/jobs/gate/away.test.ts',
  },
  {
    id: 'P244',
    area: 'gate',
    says: 'A gate that starts again has forgotten whose the jobs are that wait: each has a share of its own.',
    edits: [
      {
        file: 'programs/jobs/gate/dispatch.ts',
        find: 'const whose = client === undefined ? {}',
        replace: 'const whose = client === undefined || job.askedSince !== undefined ? {}',
      },
    ],
    suite: 'test/jobs/gate/away.test.ts',
  },
];
