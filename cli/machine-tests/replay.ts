/**
 * `test replay FILE`: plays a failing test again, and says whether it still fails. With `--inspect` its way to the
 * failing step becomes a page of the inspector beside the file.
 */

import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { messageOf } from '../../runtime/base/errors.ts';
import { engineDriver, writeFailurePage } from '../../testing/model/engine-driver.ts';
import { playLive } from '../../testing/model/live.ts';
import { samplesFor } from '../../testing/model/samples.ts';
import type { TestOptions } from '../commands/test.ts';
import { CommandFailure, EXIT, type ExitCode } from '../exit.ts';
import { loadMachine } from '../loaders/machine-module.ts';
import { type Output, printable } from '../render/output.ts';
import { readFailure } from './failure-file.ts';
import { printFailure } from './report.ts';

export async function replay(
  path: string,
  options: TestOptions,
  output: Output,
): Promise<ExitCode> {
  const { folder, module, driver, machine: name, failure } = readFailure(path);
  const driverPath = options.driver ?? (driver === undefined ? undefined : resolve(folder, driver));
  const found = await loadMachine(resolve(folder, module), options.machine ?? name, driverPath);
  const { machine, invariants } = found;
  const factories = found.driver
    ? [found.driver]
    : [false, true].map((restartsAlways) => () => engineDriver(machine, { restartsAlways }));
  const samples = samplesFor(machine, found.samples);
  if (options.inspect === true) {
    const page = resolve(path.replace(/(\.json)?$/, '.html'));
    try {
      await writeFailurePage(machine, samples.inputs[failure.test.input], failure, page);
    } catch (thrown) {
      throw new CommandFailure(EXIT.unavailable, messageOf(thrown), { cause: thrown });
    }
    if (options.json !== true)
      output.line(`in the inspector, at the failing step: ${pathToFileURL(page).href}`);
  }
  for (const factory of factories) {
    const { failures } = await playLive(machine, samples, [failure.test], {
      driver: factory,
      invariants,
    });
    const [again] = failures;
    if (again === undefined) continue;
    if (options.json === true)
      output.line(JSON.stringify({ holds: false, failure: again }, null, 2));
    else printFailure(again, undefined, output);
    return EXIT.broken;
  }
  if (options.json === true) output.line(JSON.stringify({ holds: true }));
  else output.line(`${printable(failure.test.title)}: ${output.paint('green', 'holds now')}`);
  return EXIT.done;
}
