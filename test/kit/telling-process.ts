/** Program of the tests in a process of its own, which tells what happens to it as lines of JSON. */

import { ROOT } from '../project-files.ts';
import { compiledProgram } from './compiled.ts';
import { StartedProcess } from './started-process.ts';

export class TellingProcess<TTold> extends StartedProcess {
  readonly told: TTold[] = [];

  /** `program`: its path in the project. With `wrapper`, such as `unshare --net`, the process is started by that. */
  constructor(program: string, words: readonly string[], wrapper: readonly string[] = []) {
    const command = [...wrapper, process.execPath, compiledProgram(program), ...words];
    super(command, { cwd: ROOT });
    this.hear((line) => this.told.push(JSON.parse(line)));
  }

  say(line: string): void {
    this.child.stdin?.write(`${line}\n`);
  }
}
