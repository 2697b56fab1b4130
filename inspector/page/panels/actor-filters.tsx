/**
 * Filters of the list of actors: each is a parameter of the URL, so that a list can be kept and sent.
 */

import { useSignal } from '@preact/signals';
import type { RefCallback } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { ActorsQuery, Overview } from '../../protocol.ts';
import { useAnswer } from '../core/api.ts';
import { filterField } from '../core/keys.ts';
import { overview } from '../core/live.ts';
import { setParams } from '../core/route.ts';
import { plain } from '../core/words.ts';

const NAMES = [
  'text',
  'kind',
  'state',
  'tag',
  'place',
  'node',
  'status',
  'dueWithin',
  'stuckFor',
  'waitingFor',
  'extensionsMin',
  'failed',
  'pending',
  'sort',
  'order',
] as const;

export function queryOf(params: URLSearchParams): ActorsQuery {
  const given = NAMES.flatMap((name) => {
    const value = params.get(name);
    return value === null || value === '' ? [] : [[name, value] as const];
  });
  return Object.fromEntries(given) as ActorsQuery;
}

export function ActorFilters({ query }: { query: ActorsQuery }) {
  const told = overview.value;
  // Who comes here first has not seen the overview yet.
  const asked = useAnswer<Overview>(told === undefined ? 'overview' : undefined, { window: '5m' });
  const { kinds: all = [], nodes: every = [] } = told ?? asked.answer ?? {};
  const kinds = all.map(({ kind }) => kind);
  const nodes = [...new Set(every.map(({ node }) => node))];
  const more = [
    query.tag,
    query.place,
    query.node,
    query.waitingFor,
    query.extensionsMin,
    query.state,
  ];
  return (
    <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
      <Field
        name="text"
        id="filter"
        inputRef={filterField}
        placeholder="Part of an address (press /)"
        aria-label="Part of an address"
        value={query.text}
      />
      <Choice name="kind" label="Kind" value={query.kind} values={kinds} />
      <Choice
        name="status"
        label="Status"
        value={query.status}
        values={['active', 'done', 'stopped']}
      />
      <Choice
        name="dueWithin"
        label="Due"
        value={query.dueWithin}
        values={['0s', '10s', '1m', '10m', '1h']}
        words={{
          '0s': 'overdue',
          '10s': 'in 10 s',
          '1m': 'in 1 min',
          '10m': 'in 10 min',
          '1h': 'in 1 h',
        }}
      />
      <Choice
        name="stuckFor"
        label="Quiet"
        value={query.stuckFor}
        values={['30s', '5m', '1h', '24h']}
        words={{ '30s': 'for 30 s', '5m': 'for 5 min', '1h': 'for 1 h', '24h': 'for a day' }}
      />
      <label class="check">
        <input
          type="checkbox"
          checked={query.failed === '1'}
          onChange={(event) => setParams({ failed: event.currentTarget.checked ? '1' : undefined })}
        />
        failed
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={query.pending === '1'}
          onChange={(event) =>
            setParams({ pending: event.currentTarget.checked ? '1' : undefined })
          }
        />
        under way
      </label>
      <details open={more.some(Boolean)}>
        <summary>More</summary>
        <div class="filters">
          <Choice
            name="waitingFor"
            label="Waits for"
            value={query.waitingFor}
            values={['message', 'timer', 'promise', 'effect', 'acknowledgement']}
          />
          <Text name="state" label="State" value={query.state} />
          <Text name="tag" label="Tag" value={query.tag} />
          <Text name="place" label="Place" value={query.place} />
          <Choice name="node" label="Node" value={query.node} values={nodes} />
          <Text name="extensionsMin" label="Extensions at least" value={query.extensionsMin} />
        </div>
      </details>
    </form>
  );
}

function Choice({
  name,
  label,
  value = '',
  values,
  words = {},
}: {
  name: string;
  label: string;
  value?: string | undefined;
  values: readonly string[];
  words?: Readonly<Record<string, string>>;
}) {
  const all = value === '' || values.includes(value) ? values : [value, ...values];
  return (
    <label>
      {label}
      <select
        name={name}
        value={value}
        onChange={(event) => setParams({ [name]: event.currentTarget.value })}
      >
        <option value="">any</option>
        {all.map((each) => (
          <option value={each} key={each}>
            {words[each] ?? plain(each)}
          </option>
        ))}
      </select>
    </label>
  );
}

function Text({
  name,
  label,
  value = '',
}: {
  name: string;
  label: string;
  value?: string | undefined;
}) {
  return (
    <label>
      {label}
      <Field name={name} value={value} />
    </label>
  );
}

/**
 * A field that keeps what is being written, whatever is drawn meanwhile. While somebody writes nothing is asked.
 */
function Field({
  name,
  value = '',
  inputRef = null,
  ...others
}: {
  name: string;
  value?: string | undefined;
  inputRef?: RefCallback<HTMLInputElement> | null;
  id?: string;
  placeholder?: string;
  'aria-label'?: string;
}) {
  const written = useSignal<string | undefined>(undefined);
  const waiting = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(waiting.current), []);
  return (
    <input
      {...others}
      type="search"
      ref={inputRef}
      name={name}
      value={written.value ?? value}
      onInput={({ currentTarget }) => {
        written.value = currentTarget.value;
        clearTimeout(waiting.current);
        waiting.current = setTimeout(() => {
          setParams({ [name]: written.peek() });
          written.value = undefined;
        }, WRITTEN_MS);
      }}
    />
  );
}
const WRITTEN_MS = 200;
