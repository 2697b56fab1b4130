/** Modules of kinds for `start node`: what they may export, and what ends the start with its reason. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OwnProject } from './own-project.ts';
import { ANYWHERE, Cluster } from './started-cluster.ts';

const cluster = new Cluster();
let project: OwnProject;
beforeAll(async () => {
  project = await OwnProject.create();
  project.write('machines.mjs', `${ONE}export const kinds = { order };`);
});
afterAll(() => project.remove());

const ONE =
  "import { setup } from 'xstate';\nconst order = setup({}).createMachine({ id: 'order' });\n";
const inProject = () => ({ cwd: project.folder });

describe('a module of kinds', () => {
  const begun = async (name: string, text: string, more: readonly string[] = []) => {
    project.write(name, text);
    const args = ['node', '--kinds', name, '--data', 'memory', ...ANYWHERE, ...more];
    return cluster.begin(args, inProject());
  };
  test.each([
    ['kinds', 'export const kinds = { order };', ['order']],
    ['entries', 'export const kinds = { order: { machine: order, version: 2 } };', ['order']],
    ['a default', 'export default { order, other: { machine: order } };', ['order', 'other']],
    ['one machine', 'export default order;', ['order']],
    ['names', 'export { order }; export const version = 3;', ['order']],
  ])('may export %s', async (name, text, kinds) => {
    const node = await begun(`good-${name.replace(' ', '-')}.mjs`, ONE + text);
    expect(await node.said('node.kinds')).toMatchObject({ kinds });
    await node.said('node.listening');
  });

  test('of CommonJS will do', async () => {
    const text =
      "const { setup } = require('xstate');\nmodule.exports = { order: setup({}).createMachine({}) };";
    const node = await begun('good.cjs', text);
    expect(await node.said('node.kinds')).toMatchObject({ kinds: ['order'] });
  });

  test('says its limits, and the configuration others', async () => {
    const text = `${ONE}export const kinds = { order }; export const limits = { mailboxMax: 7, drainMs: 1 };`;
    const node = await begun('limits.mjs', text, ['--set', 'limits.runtime.mailboxMax=9']);
    await node.said('node.listening');
    const wrong = await begun('wrong-limits.mjs', text.replace('mailboxMax', 'mailboxMin'));
    const { code, err } = await wrong.ended;
    expect([code, err]).toEqual([78, expect.stringContaining('mailboxMin')]);
  });

  test.each([
    ['nothing', '', 'It must export "kinds"'],
    ['no machines', 'export const help = () => 1;', 'it exports help'],
    ['an empty object', 'export const kinds = {};', 'It must export "kinds"'],
    [
      'no machine',
      'export const kinds = { order: { machine: 3 } };',
      'a machine is what createMachine returns',
    ],
    [
      'a misspelt option',
      `${ONE}export const kinds = { order: { machine: order, versoin: 2 } };`,
      'versoin',
    ],
    ['a wrong name', `${ONE}export const kinds = { 'my order': order };`, 'cannot name a kind'],
    ['nonsense', 'export const = ;', 'It cannot be loaded: '],
    ['an error', "throw new Error('no database');", 'It cannot be loaded: no database, at 1:7'],
  ])('with %s ends the start with 78', async (name, text, reason) => {
    const node = await begun(`bad-${name.replaceAll(' ', '-')}.mjs`, text);
    const { code, err } = await node.ended;
    expect([code, err]).toEqual([78, expect.stringContaining(reason)]);
    expect(err).toMatch(/^error: kinds: \S+\.mjs: /);
    expect(node.lines.map(({ event }) => event)).toContain('node.failed');
  });

  test.each([
    [
      ['--data', 'memory'],
      'a node needs it; say it in the file, by --kinds or by ESCAPEMENT_KINDS',
    ],
    [['--kinds', 'gone.mjs'], 'there is no file'],
    [['--kinds', 'machines.mjs', '--datacenter', 'A'], 'a node has no such setting'],
    [['--kinds', 'machines.mjs', '--set', 'jobs.leaseMs=9000'], 'jobs: a node has no such setting'],
    [['--kinds', 'machines.mjs', '--set', 'limits.runtime.mailboxMin=1'], 'mailboxMin'],
    [['--kinds', 'machines.mjs', '--lease', '0s'], 'lease: must be a duration from 1'],
  ])('%s is refused before anything is opened', async (args, reason) => {
    const { code, err } = await (await cluster.begin(['node', ...args], inProject())).ended;
    expect([64, 78]).toContain(code);
    expect(err).toContain(reason);
  });

  test('its limits are for it alone', async () => {
    const args = ['manager', '--datacenter', 'A', '--set', 'limits.runtime.mailboxMax=9'];
    const { code, err } = await (await cluster.begin(args)).ended;
    expect([code, err]).toEqual([
      78,
      expect.stringContaining('limits.runtime: a manager has no such setting'),
    ]);
  });
});
