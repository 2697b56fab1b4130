/** `agents run` or `mapreduce run` with `--listen` as a process of its own: where its page is, and how it ended. */

import { compiledProgram } from '../../kit/compiled.ts';
import { StartedProcess } from '../../kit/started-process.ts';

export class StartedRun extends StartedProcess {
  constructor(args: readonly string[], cwd: string) {
    const all = [compiledProgram(), ...args, '--listen', '127.0.0.1:0', '--json'];
    super([process.execPath, ...all], { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  }

  /** Address of the page, once it serves it. */
  async page(view = ''): Promise<string> {
    const url = await this.until('it listened', () => /^listening on (\S+)$/m.exec(this.err)?.[1]);
    return `${url}/inspector/${view}`;
  }
}
