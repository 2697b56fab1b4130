import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readEvents, type ServerEvent } from '../../cli/api/event-stream.ts';

async function read(text: string, cuts: readonly number[] = []): Promise<readonly ServerEvent[]> {
  const bytes = new TextEncoder().encode(text);
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  async function* chunks() {
    let from = 0;
    for (const place of [...places, bytes.length]) {
      yield bytes.subarray(from, place);
      from = place;
    }
  }
  const events: ServerEvent[] = [];
  for await (const event of readEvents(chunks())) events.push(event);
  return events;
}

describe('a stream of events', () => {
  test('has their names, data and ids', async () => {
    const text =
      ': hello\n\nid: 7\nevent: job\ndata: {"a":\ndata:1}\n\ndata: more\n\nevent: bare\n\ndata: cut';
    expect(await read(text)).toEqual([
      { event: 'job', data: '{"a":\n1}', id: '7' },
      { event: 'message', data: 'more', id: '7' },
    ]);
  });

  test.each(['\n', '\r\n', '\r'])('may end lines with %j', async (end) => {
    const text = ['event: job', 'data: größer', '', 'data: 2', '', ''].join(end);
    expect(await read(text)).toEqual([
      { event: 'job', data: 'größer', id: undefined },
      { event: 'message', data: '2', id: undefined },
    ]);
  });

  test('is the same however it is cut', async () => {
    const line = fc.constantFrom('id: 1', 'data: ä€😀', 'event: job', ': x', 'data', '', '');
    const text = fc
      .tuple(fc.array(line), fc.constantFrom('\n', '\r\n', '\r'))
      .map(([lines, end]) => `${lines.join(end)}${end}${end}`);
    await fc.assert(
      fc.asyncProperty(text, fc.array(fc.nat()), async (whole, cuts) => {
        expect(await read(whole, cuts)).toEqual(await read(whole));
      }),
    );
  });

  test('is given up when a line or an event is longer than any job', async () => {
    await expect(read(`data: ${'x'.repeat(1_000_001)}`)).rejects.toThrow(RangeError);
    const line = `data: ${'x'.repeat(1_000)}\n`;
    await expect(read(line.repeat(1_001))).rejects.toThrow(RangeError);
  });
});
