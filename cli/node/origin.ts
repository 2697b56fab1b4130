/**
 * Origin of a setting, and what is wrong with it: said so that the reader finds the place at once.
 *
 * An issue in a file is told as `file:line:column: path: what`, one on the command line by its
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

export interface Issue {
  /** Path of the setting, such as `jobs.leaseMs`; empty when it is about all of them. */
  readonly path: string;
  readonly what: string;
  readonly origin: Origin;
  /** The value makes no sense whatever else is said. */
  readonly isMalformed?: boolean;
}

/** Issues that one error tells of. */
const ISSUES_MAX = 10;

export class ConfigurationError extends CommandFailure {
  readonly issues: readonly Issue[];

  constructor(issues: readonly Issue[]) {
    const isUsage = issues.every(
      ({ origin, isMalformed = false }) => origin.from === 'flag' && isMalformed,
    );
    const told = inOrder(issues).slice(0, ISSUES_MAX).map(describeIssue);
    if (issues.length > told.length) told.push(`and ${issues.length - told.length} more`);
    super(isUsage ? EXIT.usage : EXIT.configuration, told.join('\n'));
    this.issues = issues;
  }
}

/** Those of the file first, as they stand in it. */
function inOrder(issues: readonly Issue[]): readonly Issue[] {
  const placeOf = ({ origin }: Issue): readonly [number, number] =>
    origin.from === 'file' ? [origin.line, origin.column] : [Number.MAX_SAFE_INTEGER, 0];
  return issues.toSorted((a, b) => {
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

function describeIssue({ path, what, origin }: Issue): string {
  const subject = path === '' ? '' : `${path.replace(/\.(\d+)/g, '[$1]')}: `;
  return origin.from === 'default'
    ? `${subject}${what}`
    : `${describeOrigin(origin)}: ${subject}${what}`;
}
