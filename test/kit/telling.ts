/** Telling: lines in the order in which they were told, and a way to wait for a claim about them. */

export interface Telling {
  readonly log: readonly string[];
  tell(line: string): void;
  /** Resolves when the claim holds, which is asked each time something is told. */
  until(isTrue: () => boolean): Promise<void>;
}

export function newTelling(): Telling {
  const log: string[] = [];
  const waiting = new Set<() => void>();
  return {
    log,
    tell: (line) => {
      log.push(line);
      for (const look of [...waiting]) look();
    },
    until: (isTrue) =>
      new Promise((resolve) => {
        const look = () => {
          if (!isTrue()) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
  };
}
