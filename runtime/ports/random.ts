/**
 * Chance as the runtime sees it: jitter and ids come from here and nowhere else,
 * so that a run with the seeded adapter repeats to the byte.
 */

export interface Random {
  /** A number in [0, 1). */
  next(): number;
  /** A short id of `[A-Za-z0-9_-]`, unique for all practical purposes. */
  id(): string;
}
