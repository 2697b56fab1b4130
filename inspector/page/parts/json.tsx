/**
 * JSON as text that can be folded. Nothing in it is markup, and what is deep or long is opened by hand.
 */

import { counted, plain } from '../core/words.ts';

const OPEN_DEPTH = 2;
const ENTRIES_MAX = 100;
const TEXT_MAX = 400;

export function Json({
  value,
  name,
  depth = 0,
}: {
  value: unknown;
  name?: string;
  depth?: number;
}) {
  const label =
    name === undefined ? null : <span class="json-name">{plain(name).slice(0, TEXT_MAX)}</span>;
  if (typeof value !== 'object' || value === null)
    return (
      <div class="json">
        {label} <span class={`json-${value === null ? 'null' : typeof value}`}>{leaf(value)}</span>
      </div>
    );
  const entries = Object.entries(value);
  const isList = Array.isArray(value);
  if (entries.length === 0)
    return (
      <div class="json">
        {label} <span class="soft">{isList ? '[ ]' : '{ }'}</span>
      </div>
    );
  return (
    <details class="json" open={depth === 0 || (depth < OPEN_DEPTH && entries.length <= 8)}>
      <summary>
        {label} <span class="soft">{counted(entries.length, isList ? 'item' : 'field')}</span>
      </summary>
      {entries.slice(0, ENTRIES_MAX).map(([key, inner]) => (
        <Json key={key} name={key} value={inner} depth={depth + 1} />
      ))}
      {entries.length > ENTRIES_MAX && (
        <div class="soft">and {counted(entries.length - ENTRIES_MAX, 'more')}</div>
      )}
    </details>
  );
}

export function leaf(value: unknown): string {
  if (typeof value !== 'string') return String(value);
  const text = value.length > TEXT_MAX ? `${value.slice(0, TEXT_MAX)}… (${value.length})` : value;
  return plain(JSON.stringify(text));
}
