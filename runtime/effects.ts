/**
 * Door of `effects/`: what leaves after a commit, and who watches.
 */

export { Release } from './effects/after-commit.ts';
export { Children } from './effects/children.ts';
export { Observers, type SnapshotObserver, type Subscription } from './effects/observers.ts';
export { Ledger } from './effects/outcomes.ts';
export {
  type EffectRetry,
  type Identity,
  type PerformerOutlet,
  Performers,
} from './effects/performers.ts';
export { Questions } from './effects/questions.ts';
