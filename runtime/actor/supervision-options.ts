/** The supervision of a kind: what follows when a turn of an actor fails, and its defaults. */

/** Options for an actor whose turn failed. The event itself always goes to the undelivered messages. */
export interface Supervision {
  /** `skip`: go on from the state before; `restart`: begin again with the same input; `stop`: end. */
  readonly onFailure: 'skip' | 'restart' | 'stop';
  /** More failures than `failuresMax` within `withinMs` stop the actor. */
  readonly failuresMax: number;
  readonly withinMs: number;
  /**
   * Runs of a promise, callback or observable whose end no turn could take, at most: one that rejects where
   * no `onError` is, say. The last failure stops the actor. Default 5; `Infinity` never does.
   */
  readonly attemptsMax: number;
  /** Pauses before it is run again: the first and the longest, doubling in between. Default 1,000 and 60,000. */
  readonly pauseMinMs: number;
  readonly pauseMaxMs: number;
}

export const DEFAULT_SUPERVISION: Supervision = {
  onFailure: 'skip',
  failuresMax: 100,
  withinMs: 60_000,
  attemptsMax: 5,
  pauseMinMs: 1_000,
  pauseMaxMs: 60_000,
};
