/** Commands started by tests, in a folder and with a mark of their own; none of them is left after a test. */

import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import {
  Command,
  type CommandOptions,
  type Launcher,
  OutputText,
  ProcessGroups,
} from '../../programs/processes.ts';
import { systemClock } from '../../runtime/system/clock.ts';

export const clock = systemClock({ unref: true });
export const groups = new ProcessGroups(clock);
const environment = (mark: string) => ({
  PATH: process.env.PATH ?? '',
  ESCAPEMENT_TEST_MARK: mark,
});

export let folder: string;
export let mark: string;
let started: Command[];
beforeEach((context) => {
  folder = mkdtempSync(join(tmpdir(), 'escapement-groups-'));
  started = [];
  mark = `${process.pid}-${context.task.id}`;
});
afterEach(async () => {
  await groups.killMarked({ name: 'ESCAPEMENT_TEST_MARK', value: mark });
  for (const command of started) await command.release();
  rmSync(folder, { recursive: true, force: true });
});

export function startWith(
  script: string,
  { launch, ...options }: Partial<CommandOptions> & { readonly launch?: Launcher['launch'] } = {},
) {
  const [stdout, stderr] = [new OutputText(1_000), new OutputText(1_000)];
  const command = new Command(
    {
      argv: ['/bin/sh', '-c', script],
      cwd: folder,
      env: environment(mark),
      stdout,
      stderr,
      ...options,
    },
    clock,
    launch,
  );
  started.push(command);
  return { command, stdout, stderr, group: command.group as number };
}

export const until = async (isSo: () => boolean): Promise<void> => {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
};
export const emptied = (group: number) =>
  new Promise<void>((resolve) => groups.whenEmpty(group, () => resolve()));
export const files = (...names: string[]) => names.every((name) => existsSync(join(folder, name)));
