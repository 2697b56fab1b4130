/** Windows of time to choose from: what a panel counts over. */

import { setParams } from '../core/route.ts';

const WINDOWS = [
  ['5m', '5 min'],
  ['1h', '1 hour'],
  ['24h', '24 hours'],
] as const;

export function Windows({ shown }: { shown: string }) {
  return (
    <span class="segments">
      {WINDOWS.map(([value, label]) => (
        <button
          type="button"
          key={value}
          aria-pressed={shown === value}
          onClick={() => setParams({ window: value })}
        >
          {label}
        </button>
      ))}
    </span>
  );
}
