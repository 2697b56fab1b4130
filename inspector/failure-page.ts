/**
 * Page of a failure in one file: of a simulated run in which an invariant broke, or of a test on a virtual clock that
 * threw.
 */

import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { RecordedHeader, RecordedLine } from './protocol.ts';
import { linesOfTest } from './recording/failed-test.ts';
import { type BrokenRun, linesOfFailure } from './recording/failure.ts';
import { singleFile } from './single-file.ts';

/** `folder`: where the built page is, if not at its usual place. @throws {RuntimeError} PACKAGE_MISSING where it is not built */
export function failurePage(broken: BrokenRun, folder?: string): string {
  return singleFile(linesOfFailure(broken), folder);
}

/** `lines`: recording of the whole test. @throws {RuntimeError} PACKAGE_MISSING where the page is not built */
export function testPage(
  lines: ReadonlyArray<RecordedHeader | RecordedLine>,
  thrown: unknown,
  range: { readonly from: number; readonly to: number },
): string {
  return singleFile(linesOfTest(lines, thrown, range));
}

/** Writes a page, over what was there; the folder is made where there is none. */
export async function writePage(file: string, page: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, page);
}
