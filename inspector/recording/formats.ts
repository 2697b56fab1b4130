/**
 * Formats of a recording as a file: its own JSON lines, the trace JSON of Chrome and Perfetto, and OTLP JSON.
 */

import { RuntimeError } from '../../runtime/base/errors.ts';
import type { RecordedHeader, RecordedLine } from '../protocol.ts';
import type { SourceFile } from '../source.ts';
import { otlpOf } from './otlp.ts';
import { perfettoOf } from './perfetto.ts';

const FORMATS = ['jsonl', 'perfetto', 'otlp'] as const;

type Lines = ReadonlyArray<RecordedHeader | RecordedLine>;

/** @throws {RuntimeError} OPTION_INVALID */
export function fileOf(lines: Lines, format: string): SourceFile {
  const json = 'application/json; charset=utf-8';
  switch (format) {
    case 'jsonl':
      return {
        name: 'run.jsonl',
        type: 'application/jsonl; charset=utf-8',
        text: textOfLines(lines),
      };
    case 'perfetto':
      return { name: 'run.trace.json', type: json, text: JSON.stringify(perfettoOf(lines)) };
    case 'otlp':
      return { name: 'run.otlp.json', type: json, text: JSON.stringify(otlpOf(lines)) };
    default:
      throw new RuntimeError(
        'OPTION_INVALID',
        `"format" of a recording is one of ${FORMATS.join(', ')}.`,
      );
  }
}

export function textOfLines(lines: Lines): string {
  return `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`;
}
