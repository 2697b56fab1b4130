/**
 * Origin of a setting, and what is wrong with it: said so that the reader finds the place at once.
 *
 * A mistake in a file is told as `file:line:column: path: what`, one on the command line by its
 * flag, one in the environment by its variable. Values on the command line that make no sense by
 * themselves are wrong usage; everything else is a bad configuration.
 */

import { CommandFailure, EXIT } from '../exit.ts';

export type Origin =
  | { readonly from: 'flag' | 'environment'; readonly name: string }
  | {
      readonly from: 'file';
      readonly file: string;
      readonly line: number;
      readonly column: number;
    }
  | { readonly from: 'default' };

export interface Mistake {
  /** Path of the setting, such as `jobs.leaseMs`; empty when it is about all of them. */
  readonly path: string;
  readonly what: string;
  readonly origin: Origin;
  /** The value makes no sense whatever else is said. */
  readonly isMalformed?: boolean;
}

/** Mistakes that one error tells of. */
const MISTAKES_MAX = 10;

export class ConfigurationError extends CommandFailure {
  readonly mistakes: readonly Mistake[];

  constructor(mistakes: readonly Mistake[]) {
    const isUsage = mistakes.every(
      ({ origin, isMalformed = false }) => origin.from === 'flag' && isMalformed,
    );
    const told = inOrder(mistakes).slice(0, MISTAKES_MAX).map(describeMistake);
    if (mistakes.length > told.length) told.push(`and ${mistakes.length - told.length} more`);
    super(isUsage ? EXIT.usage : EXIT.configuration, told.join('\n'));
    this.mistakes = mistakes;
  }
}

/** Those of the file first, as they stand in it. */
function inOrder(mistakes: readonly Mistake[]): readonly Mistake[] {
  const placeOf = ({ origin }: Mistake): readonly [number, number] =>
    origin.from === 'file' ? [origin.line, origin.column] : [Number.MAX_SAFE_INTEGER, 0];
  return mistakes.toSorted((a, b) => {
    const [line, column] = placeOf(a);
    const [otherLine, otherColumn] = placeOf(b);
    return line - otherLine || column - otherColumn;
  });
}

export function describeOrigin(origin: Origin): string {
  switch (origin.from) {
    case 'file':
      return `${origin.file}:${origin.line}:${origin.column}`;
    case 'default':
      return 'default';
    default:
      return origin.name;
  }
}

function describeMistake({ path, what, origin }: Mistake): string {
  const subject = path === '' ? '' : `${path}: `;
  return origin.from === 'default'
    ? `${subject}${what}`
    : `${describeOrigin(origin)}: ${subject}${what}`;
}
