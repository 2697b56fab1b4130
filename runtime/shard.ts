/**
 * Door of `shard/`: the actors of a place, whose turn it is, and what follows a failure.
 */

export type { Checks } from './shard/entrance.ts';
export { Hosting, type HostingListener } from './shard/hosting.ts';
export { reportFailure, reportStopFailure, stackOf } from './shard/report.ts';
export { Shard, type ShardListener } from './shard/shard.ts';
