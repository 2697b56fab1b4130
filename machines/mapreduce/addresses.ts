/**
 * Addresses of the actors of a run: every one is made here and nowhere else. All live at one place.
 */

/** Ids of runs. */
export const RUN_ID_PATTERN = /^[A-Za-z0-9._-]{1,64}$/;

export const runAddress = (runId: string): `mapreduce/${string}` => `mapreduce/${runId}`;

export const agentAddress = (runId: string, agentId: string): `map-agent/${string}` =>
  `map-agent/${runId}/${agentId}`;

/** `key` is made of the workflow's name and the item's id, which may have any characters. */
export const failedItemAddress = (key: string): `failed-item/${string}` => `failed-item/${key}`;

/** Steps before and after the map have agents too. */
export type Role = 'map' | 'setup' | 'reduce';

/** The attempt fence: never used again. Items count from 0, attempts from 1. */
export const agentIdOf = (role: Role, itemIndex: number, attempt: number): string =>
  role === 'map' ? `agent-${itemIndex}-${attempt}` : `${role}-${attempt}`;
