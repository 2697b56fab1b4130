/**
 * Every command against texts that want to speak to the terminal: in answers of a node, in its errors, in
 * files, in stored data, in arguments. Whatever the command prints, the terminal is told nothing by them.
 */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commandsFor } from '../../cli/commands/commands.ts';
import type { Host } from '../../cli/node/host.ts';
import { run } from '../../cli/program.ts';
import { Output } from '../../cli/render/output.ts';
import { ANSWERS, EVIL, ended, STORED, VIEW } from './hostile-answers.ts';

/** What may not be there once it is printed; line breaks are looked at apart. */
const SPEAKS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not reach a terminal.
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/;
const OWN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours that it knows, and the line that it draws again.
  /\u001b\[(?:1|2|22|3[2-9]|90)m|\r\u001b\[2K|\u001b\[1A\u001b\[2K/g;

let answering: (path: string, response: ServerResponse) => void;
let server: Server;
let url = '';
let folder = '';
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'escapement-hostile-'));
  server = createServer((request, response) => {
    request.resume();
    answering(request.url ?? '', response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true });
});

const write = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

/** Runs it as on a terminal that wants colours, and answers with all that went there. */
async function printed(args: readonly string[]): Promise<string> {
  let text = '';
  const streams = [1, 2].map(() => {
    const stream = Object.assign(new PassThrough(), {
      isTTY: true,
      columns: 200,
      getColorDepth: () => 8,
    });
    stream.on('data', (chunk) => {
      text += String(chunk);
    });
    return stream;
  });
  const [out, err] = streams as unknown as [PassThrough, PassThrough];
  const host = {
    cwd: () => folder,
    env: {},
    execArgv: [],
    stdout: out,
    stdin: new PassThrough(),
    on: () => host,
    exit: () => {},
  };
  await run(args, new Output(out, err), {
    env: { ESCAPEMENT_URL: url, ESCAPEMENT_INSIDE: '1' },
    host: host as unknown as Host,
    openStoredData: async () => STORED,
    input: new PassThrough(),
  });
  return text;
}

async function expectHarmless(args: readonly string[]): Promise<string> {
  const text = await printed(args);
  const found = SPEAKS.exec(text.replaceAll(OWN, ''));
  const around =
    found && JSON.stringify(text.slice(Math.max(0, found.index - 60), found.index + 60));
  expect(around, args.join(' ').slice(0, 200)).toBeNull();
  return text;
}

const answerGood = (path: string, response: ServerResponse): void => {
  if (path.includes('/events')) {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const view of [VIEW, { ...VIEW, seq: 2 }, { ...ended, seq: 3 }])
      response.write(`event: job\nid: ${view.seq}\ndata: ${JSON.stringify(view)}\n\n`);
    response.end();
    return;
  }
  const body = ANSWERS.find(([known]) => known.test(path))?.[1] ?? { [EVIL]: EVIL };
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
};

const answerBad = (status: number, body: string) => (_path: string, response: ServerResponse) => {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(body);
};

const REFUSALS = [400, 401, 403, 404, 409, 413, 429, 500, 503, 504].map(
  (status) =>
    [
      `a refusal ${status}`,
      answerBad(status, JSON.stringify({ error: { code: EVIL, message: EVIL, field: EVIL } })),
    ] as const,
);

/** What the commands are asked for; each is one that there is, and all that there are stand here. */
const LINES: Readonly<Record<string, ReadonlyArray<readonly string[]>>> = {
  submit: [
    ['--id', 'x', '--timeout', '1m', '--workflow', 'a=b'],
    ['--id', 'x', '--timeout', '1m', '--workflow', 'a=b', '--watch'],
    ['--file', 'JOB'],
  ],
  jobs: [[], ['--status', 'running']],
  show: [['x'], ['x', '--watch'], ['x/1']],
  actors: [[], ['--kind', 'x']],
  spawn: [['x/1'], ['x/1', '--input', '{}']],
  send: [
    ['x/1', EVIL],
    ['x/1', 'x', '--json-payload', '{"a": 1}'],
  ],
  status: [[]],
  waiting: [[]],
  revive: [['x/1']],
  end: [['x/1']],
  forget: [['x/1']],
  cancel: [['x']],
  extend: [['x', '--by', '1m']],
  workers: [[]],
  history: [['x'], ['x', '--full'], ['x/1']],
  undelivered: [[], ['list'], ['show', 'x'], ['retry', 'x'], ['drop', 'x']],
  timers: [[]],
  start: [
    ['manager', '--config', 'CONFIG'],
    ['worker', '--node', EVIL, '--datacenter', EVIL],
    ['node', '--kinds', EVIL, '--place', EVIL],
  ],
  config: [
    ['check', 'manager', '--config', 'CONFIG'],
    ['print', 'manager', '--config', 'CONFIG'],
    ['print', 'manager', '--datacenter', EVIL],
  ],
  demo: [['--headless', '--port', EVIL]],
  simulate: [['SCENARIO'], ['--replay', 'SCENARIO'], ['--seed', EVIL], [`/nowhere/${EVIL}`]],
  'check-upgrade': [
    [`/nowhere/${EVIL}`, `/nowhere/${EVIL}`],
    ['MODULE', folder],
  ],
  data: [
    ['info', folder],
    ['verify', folder],
    ['compact', folder],
    ['info', `/nowhere/${EVIL}`],
  ],
  diagram: [['MODULE'], ['MODULE', '--kind', EVIL], [`/nowhere/${EVIL}`]],
  agents: [
    ['run', 'SCENARIO', '--data', folder],
    ['status', EVIL, '--data', folder],
    ['questions', '--run', EVIL, '--data', folder],
    ['answer', EVIL, EVIL, '--data', folder],
    ['pause', EVIL, '--data', folder],
    ['drain', EVIL, '--data', folder],
    ['logs', EVIL, '--data', folder],
  ],
  dlq: [
    ['list', '--data', `/nowhere/${EVIL}`],
    ['show', EVIL, '--data', folder],
  ],
  inspect: [[`/nowhere/${EVIL}`], ['SCENARIO', '--as', EVIL]],
  lint: [['MODULE'], [`/nowhere/${EVIL}`]],
  mapreduce: [
    ['validate', 'SCENARIO'],
    ['list', '--data', `/nowhere/${EVIL}`],
    ['show', EVIL, '--data', folder],
    ['logs', EVIL, '--run', EVIL, '--data', folder],
  ],
  record: [[url, '-o', `/nowhere/${EVIL}`]],
  test: [['MODULE'], ['replay', 'SCENARIO'], [`/nowhere/${EVIL}`, '--machine', EVIL]],
  timeouts: [
    ['list', '--data', `/nowhere/${EVIL}`],
    ['recommend', '--workflow', EVIL, '--data', folder],
    ['show', EVIL, '--data', folder],
  ],
  why: [['x'], ['x/1'], ['x', '--from', `/nowhere/${EVIL}`]],
  completion: [['bash'], [EVIL]],
  version: [[], ['--json']],
};

const FILES: Readonly<Record<string, string>> = {
  JOB: JSON.stringify({
    jobId: EVIL,
    timeoutMs: EVIL,
    workflows: [{ id: EVIL, handler: EVIL, [EVIL]: EVIL }],
  }),
  CONFIG: `${JSON.stringify(EVIL)}: ${JSON.stringify(EVIL)}\ndatacenter: ${JSON.stringify(EVIL)}\nlog: {level: ${JSON.stringify(EVIL)}}\n`,
  SCENARIO: `name: ${JSON.stringify(EVIL)}\n${JSON.stringify(EVIL)}: ${JSON.stringify([EVIL])}\n`,
  MODULE: `throw new Error(${JSON.stringify(EVIL)});`,
};

function filled(args: readonly string[]): string[] {
  return args.map((arg) =>
    Object.hasOwn(FILES, arg) ? write(`${arg}.mjs`, FILES[arg] as string) : arg,
  );
}

test('every command is tried', async () => {
  const output = new Output(new PassThrough(), new PassThrough());
  const around = {
    output,
    setExitCode: () => {},
    env: {},
    host: {} as Host,
    openStoredData: async () => STORED,
  };
  const names = (await commandsFor([], around)).map((command) => command.name());
  expect(Object.keys(LINES).sort()).toEqual(names.sort());
});

describe.each(Object.entries(LINES))('%s', (command, lines) => {
  const all = lines.flatMap((line) => [line, ...(command === 'demo' ? [] : [[...line, '--json']])]);

  test('prints nothing that speaks to a terminal', async () => {
    answering = answerGood;
    for (const line of all) await expectHarmless([command, ...filled(line)]);
    for (const line of [[EVIL], [`--${EVIL}`], [`--json=${EVIL}`], ['--help', EVIL]])
      await expectHarmless([command, ...line]);
  });

  const isOfNode = [
    'status',
    'submit',
    'jobs',
    'show',
    'cancel',
    'extend',
    'workers',
    'history',
    'undelivered',
    'timers',
  ];
  test.runIf(isOfNode.includes(command))('whatever the node refuses it with', async () => {
    for (const [what, refuse] of REFUSALS) {
      // What time may heal is tried again for a minute: once is enough to see.
      let asked = 0;
      answering = (path, response) => {
        asked += 1;
        if (asked === 1) refuse(path, response);
        else
          answerBad(404, JSON.stringify({ error: { code: 'notFound', message: EVIL } }))(
            path,
            response,
          );
      };
      for (const line of all) {
        asked = 0;
        await expectHarmless([command, ...filled(line)]).catch((thrown) => {
          throw new Error(`${what}: ${thrown.message}`, { cause: thrown });
        });
      }
    }
    answering = answerBad(200, EVIL);
    for (const line of all) await expectHarmless([command, ...filled(line)]);
  });
});

test('a command that is none is told of as it was typed', async () => {
  expect(await expectHarmless([EVIL])).toContain('\\u001b[2J');
});

test('a watched job that is lost is told of on its line', async () => {
  answering = (path, response) => {
    if (path.includes('/events')) answerGood(path, response);
    else
      answerBad(503, JSON.stringify({ error: { code: 'overloaded', message: EVIL } }))(
        path,
        response,
      );
  };
  await expectHarmless(['show', 'x', '--watch']);
});
