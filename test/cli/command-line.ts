/** The command line as tests run it: in this process with streams that are caught, or as a process of its own. */

import { type ChildProcess, spawn } from 'node:child_process';
import { PassThrough } from 'node:stream';
import { run, type Sources } from '../../cli/program.ts';
import { Output } from '../../cli/render/output.ts';
import { compiledProgram } from '../kit/compiled.ts';
import { ROOT } from '../project-files.ts';

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** In this process. */
export async function escapement(args: readonly string[], sources?: Sources): Promise<Ended> {
  const [out, err] = [new PassThrough(), new PassThrough()];
  const caught = { out: textOf(out), err: textOf(err) };
  const code = await run(args, new Output(out, err), sources);
  return { code, out: caught.out(), err: caught.err() };
}

/** A process; `stdout`: where it writes instead of to us. Nothing of the terminal's wishes for colours reaches it but `env`. */
export function start(
  args: readonly string[],
  env: Record<string, string> = {},
  stdout: 'pipe' | number = 'pipe',
): ChildProcess {
  const { NO_COLOR: _, FORCE_COLOR: __, ...rest } = process.env;
  // What it is told to import may be TypeScript.
  const loader = args.some((arg) => arg.endsWith('.ts')) ? ['--import', 'tsx'] : [];
  const program = [...loader, compiledProgram(), ...args];
  return spawn(process.execPath, program, {
    cwd: ROOT,
    env: { ...rest, ...env },
    stdio: ['pipe', stdout, 'pipe'],
  });
}

export async function ended(child: ChildProcess): Promise<Ended> {
  const caught = [child.stdout, child.stderr].map((stream) => (stream ? textOf(stream) : () => ''));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  return { code, out: caught[0]?.() ?? '', err: caught[1]?.() ?? '' };
}

function textOf(stream: NodeJS.ReadableStream): () => string {
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString('utf8');
}
