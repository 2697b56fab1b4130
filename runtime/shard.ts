/**
 * Door of `shard/`: the actors of a place, whose turn it is, and what follows a failure.
 */

export { Hosting, type HostingListener } from './shard/hosting.ts';
export { reportFailure, reportStopFailure, stackOf } from './shard/report.ts';
export { type Checks, Shard, type ShardListener } from './shard/shard.ts';
