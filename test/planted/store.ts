/** Planted bugs around the store: what is shown before it is on disk, and damage that nobody is told of. */

import type { Plant } from './plant.ts';

const COMMIT = 'runtime/actor/commit-group.ts';

export const storePlants: readonly Plant[] = [
  {
    id: 'P50',
    area: 'store',
    says: 'A group is released when it is handed to the store, not when it is durable.',
    edits: [
      {
        file: COMMIT,
        find: '        if (this.#underWay === group) this.#settled(group, refusal);\n      },\n    );\n',
        replace:
          '        if (this.#underWay === group) this.#settled(group, refusal);\n      },\n    );\n    if (!group.isClaim) this.#listener.released(group);\n',
      },
      {
        file: COMMIT,
        find: '    this.#listener.released(group);\n  }\n\n  #count(',
        replace: '    if (group.isClaim) this.#listener.released(group);\n  }\n\n  #count(',
      },
    ],
  },
  {
    id: 'P54',
    area: 'store',
    says: 'A store that says when it is opened that a record is missing is used all the same: the rest is served.',
    edits: [
      {
        file: 'runtime/shard/hosting.ts',
        find: 'await store.open(place);',
        replace: 'await store.open(place).catch(() => {});',
      },
    ],
  },
];
