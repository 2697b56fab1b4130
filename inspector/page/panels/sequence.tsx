/**
 * Sequence of messages between chosen actors, the newest last: who sent what to whom, and what became known of it.
 */

import type { MessageLine, MessagesAnswer } from '../../protocol.ts';
import { useAnswer } from '../core/api.ts';
import { generation, isPaused } from '../core/live.ts';
import { actorHref, route } from '../core/route.ts';
import { addressParts, duration, moment, plain, timeOfDay } from '../core/words.ts';
import { Empty, MissingNodes, Note } from '../parts/marks.tsx';
import { OUTCOMES } from './timeline-words.ts';

const ACTORS_MAX = 8;
const COLUMN = 150;
const ROW = 34;
const TIME = 92;

export function SequencePanel({ addresses }: { addresses?: readonly string[] }) {
  const asked = addresses ?? route.value.params.getAll('address');
  const { answer, error } = useAnswer<MessagesAnswer>(
    asked.length === 0 ? undefined : 'messages',
    { address: asked, limit: '200', round: String(generation.value) },
    isPaused.value ? undefined : 3_000,
  );
  if (asked.length === 0)
    return (
      <Empty title="Messages between which actors?">
        <p>
          Open an actor and choose Messages, or name some in the URL:{' '}
          <code>#/sequence?address=…&address=…</code>
        </p>
      </Empty>
    );
  if (answer === undefined)
    return error === undefined ? (
      <Note>Asking for the messages…</Note>
    ) : (
      <Note sort="failed">{error}</Note>
    );
  if (answer.messages.length === 0)
    return (
      <Empty title="No message was seen">
        <p>
          Messages are seen from when somebody looks, or while they are recorded; turns tell of
          those before.
        </p>
      </Empty>
    );
  const columns = participants(answer.messages, asked);
  return (
    <div class={`panel sequence ${addresses === undefined ? '' : 'within'}`}>
      <MissingNodes missing={answer.missing} />
      {answer.isCut && <Note>Only the last {answer.messages.length} are shown.</Note>}
      <div class="sequence-view">
        <Diagram messages={answer.messages} columns={columns} />
      </div>
      <p class="soft legend">
        <span class="stroke tell-stroke" /> tell, acknowledged and repeated until then{' '}
        <span class="stroke hint-stroke" /> hint, may be lost <span class="stroke answer-stroke" />{' '}
        answer
      </p>
    </div>
  );
}

/** Those that were asked for, then the others by how often they speak; the rest are one column. */
function participants(
  messages: readonly MessageLine[],
  asked: readonly string[],
): readonly string[] {
  const often = new Map<string, number>();
  for (const { from, to } of messages)
    for (const each of [from, to]) often.set(each, (often.get(each) ?? 0) + 1);
  const others = [...often].filter(([address]) => !asked.includes(address));
  others.sort(([, one], [, other]) => other - one);
  return [...asked, ...others.map(([address]) => address)].slice(0, ACTORS_MAX);
}

function Diagram({
  messages,
  columns,
}: {
  messages: readonly MessageLine[];
  columns: readonly string[];
}) {
  const isCut = messages.some(({ from, to }) => !columns.includes(from) || !columns.includes(to));
  const names = isCut ? [...columns, 'others'] : columns;
  const width = TIME + names.length * COLUMN;
  const height = 44 + messages.length * ROW;
  const x = (address: string): number => {
    const index = columns.indexOf(address);
    return TIME + COLUMN / 2 + (index < 0 ? columns.length : index) * COLUMN;
  };
  return (
    <svg
      class="diagram"
      width={width}
      height={height}
      role="img"
      aria-label={`${messages.length} messages`}
    >
      {names.map((address) => (
        <g key={address}>
          <path class="life" d={`M${x(address)} 40V${height}`} />
          <a href={address === 'others' ? '#/actors' : actorHref(address)}>
            <title>{plain(address).slice(0, 500)}</title>
            <text x={x(address)} y={16} class="who">
              {address === 'others' ? 'others' : short(addressParts(address).key)}
            </text>
            <text x={x(address)} y={31} class="of">
              {address === 'others'
                ? ''
                : short(`${addressParts(address).kind}@${addressParts(address).place}`)}
            </text>
          </a>
        </g>
      ))}
      {messages.map((message, index) => (
        <Arrow
          message={message}
          y={64 + index * ROW}
          x={x}
          key={`${message.from} ${message.counter ?? index} ${message.to}`}
        />
      ))}
    </svg>
  );
}

const short = (text: string): string => {
  const name = plain(text);
  return name.length > 20 ? `${name.slice(0, 9)}…${name.slice(-9)}` : name;
};

function Arrow({
  message,
  y,
  x,
}: {
  message: MessageLine;
  y: number;
  x: (address: string) => number;
}) {
  const { from, to, type, sort, sentAt, takenAt, sentTurn, takenTurn, fencedAt, outcome, why } =
    message;
  const [start, end] = [x(from), x(to)];
  const at = sentAt ?? takenAt ?? fencedAt;
  const way = end >= start ? 1 : -1;
  const onItsWay =
    sentAt !== undefined && takenAt !== undefined ? duration(takenAt - sentAt) : undefined;
  const line =
    start === end ? `M${start} ${y}h34v10H${start + 6}` : `M${start} ${y}H${end - way * 6}`;
  const head = start === end ? `M${start} ${y + 10}l6 -3.5v7z` : `M${end} ${y}l${-way * 6} -3.5v7z`;
  const link =
    sentTurn !== undefined
      ? `${actorHref(from, 'turns')}&turn=${sentTurn}`
      : `${actorHref(to, 'turns')}${takenTurn === undefined ? '' : `&turn=${takenTurn}`}`;
  const words = outcome === 'taken' ? '' : OUTCOMES[outcome];
  return (
    <a href={link} class={`arrow ${sort} ${outcome}`}>
      <title>
        {[
          plain(type),
          [sort, OUTCOMES[outcome]].filter(Boolean).join(', '),
          onItsWay && `${onItsWay} on its way`,
          why && plain(why),
          at !== undefined && moment(at),
        ]
          .filter(Boolean)
          .join('\n')}
      </title>
      <text x={4} y={y + 4} class="at">
        {at === undefined ? '' : timeOfDay(at)}
      </text>
      <path class="way" d={line} />
      <path class="head" d={head} />
      <text
        x={start === end ? start + 40 : (start + end) / 2}
        y={start === end ? y + 4 : y - 5}
        class={start === end ? 'what self' : 'what'}
      >
        {short(type)}
        {words === '' ? '' : ` (${words})`}
      </text>
    </a>
  );
}
