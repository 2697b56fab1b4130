/**
 * Bugs of map-reduce runs: one for each of their invariants, and for what chance seldom takes.
 */

import { plantsOf } from './plant.ts';

const SEEDS = 'test/mapreduce/machines/seeds.test.ts';
const CONTINUING = 'test/mapreduce/machines/continuing.test.ts';
const SHELL = 'test/mapreduce/machines/shell-text.test.ts';
const MONITORING = 'test/mapreduce/runs/monitoring.test.ts';

export const mapReducePlants = plantsOf('mapreduce', SEEDS, [
  {
    id: 'P501',
    says: 'MR-1: an attempt is ended 50 ms before its limit.',
    file: 'machines/mapreduce/map-agent/setup.ts',
    find: '(context.agentDueAt ?? 0) - event.at)',
    replace: '(context.agentDueAt ?? 0) - event.at - 50)',
  },
  {
    id: 'P502',
    says: 'MR-2: the limit of a type comes before that of a place in the template.',
    file: 'programs/mapreduce/workflow/limits.ts',
    find: 'ofType.find((each) => each.index === index) ?? ofType.find((each) => each.index === null)',
    replace:
      'ofType.find((each) => each.index === null) ?? ofType.find((each) => each.index === index)',
  },
  {
    id: 'P503',
    says: 'MR-3: a command that has no timer goes on with that of the command before.',
    file: 'machines/mapreduce/map-agent/edges.ts',
    find: "{ target: '.off' },",
    replace: '',
  },
  {
    id: 'P504',
    says: 'MR-4: one item more than allowed is at work.',
    file: 'machines/mapreduce/run/steps.ts',
    find: 'context.agents.size < room &&',
    replace: 'context.agents.size <= room &&',
  },
  {
    id: 'P505',
    says: 'MR-5: an item that is skipped is kept among the failed ones.',
    file: 'machines/mapreduce/run/steps.ts',
    find: "const isKept = outcome === 'dlq' ||",
    replace: "const isKept = outcome === 'dlq' || outcome === 'skipped' ||",
  },
  {
    id: 'P506',
    says: 'MR-6: a command that was cut is forgotten.',
    file: 'machines/mapreduce/map-agent/context.ts',
    find: 'commands: [...commands, cut] };',
    replace: 'commands };',
  },
  {
    id: 'P507',
    says: 'MR-7: a last command that fails, and leaves nothing, has ended well.',
    file: 'machines/mapreduce/map-agent/setup.ts',
    find: `event.exitCode === 0 &&
      event.isClean,`,
    replace: 'event.isClean,',
  },
  {
    id: 'P508',
    says: 'MR-8: a group that had to be killed is called graceful.',
    file: 'machines/mapreduce/map-agent/setup.ts',
    find: "event.type === 'group.emptied' && !event.killed,",
    replace: "event.type === 'group.emptied',",
  },
  {
    id: 'P509',
    says: 'MR-9: what ignores SIGTERM is not killed after its grace.',
    file: 'machines/mapreduce/map-agent.ts',
    find: `killing: {
          entry: killGroup,`,
    replace: 'killing: {',
  },
  {
    id: 'P510',
    says: 'MR-10: an attempt of the runner before counts as ended, and nobody kills its process.',
    file: 'machines/mapreduce/map-agent.ts',
    find: "{ target: 'terminating.killing', actions: 'keepStopCause' }",
    replace: "{ target: 'interrupted', actions: 'keepStopCause' }",
  },
  {
    id: 'P511',
    says: 'MR-11: a failed run that is continued begins its done items again.',
    file: 'machines/mapreduce/run/steps.ts',
    find: "if (row.state !== 'failed') continue;",
    replace: "if (row.state === 'dlq') continue;",
  },
  {
    id: 'P512',
    says: 'MR-12: an event sink that throws hinders the run.',
    file: 'programs/mapreduce/monitor.ts',
    find: `} catch {
      this.metrics`,
    replace: `} catch (thrown) {
      if (thrown !== undefined) throw thrown;
      this.metrics`,
    suite: MONITORING,
  },
  {
    id: 'P513',
    says: 'MR-13: an attempt that timed out is not counted as one.',
    file: 'machines/mapreduce/run/steps.ts',
    find: "(event.outcome === 'timedOut' ? 1 : 0)",
    replace: '0',
  },
  {
    id: 'P514',
    says: 'MR-14: a limit costs an attempt that ends in time a turn.',
    file: 'programs/mapreduce/attempts.ts',
    find: 'clock.schedule(clock.now() + spawnedToldAfterMs, () => {',
    replace:
      'clock.schedule(clock.now() + (plan.rules.map.agentLimitMs === null ? spawnedToldAfterMs : 0), () => {',
    suite: MONITORING,
  },
  {
    id: 'P515',
    says: 'MR-15: the reduce begins while an item is left.',
    file: 'machines/mapreduce/run/setup.ts',
    find: `isMappedWithReduce: ({ context }) =>
      finalCount(context) === context.rules.itemCount &&`,
    replace: `isMappedWithReduce: ({ context }) =>
      finalCount(context) >= context.rules.itemCount - 1 &&`,
  },
  {
    id: 'P516',
    says: 'MR-16: a placeholder is left where a shell would parse its value again.',
    file: 'programs/mapreduce/shell-text.ts',
    find: `if (doubt !== undefined) refuseIn(part, doubt, scope);
    else quote`,
    replace: 'if (doubt === undefined) quote',
    suite: SHELL,
  },
  {
    id: 'P517',
    says: 'A reduce that was done while its run was being stopped is run again.',
    file: 'machines/mapreduce/run.ts',
    find: "{ guard: 'isReduced', target: '#mapreduce.completed' },\n            { guard: 'hasBegunReduce'",
    replace: "{ guard: 'hasBegunReduce'",
    suite: CONTINUING,
  },
  {
    id: 'P518',
    says: 'A run that was stopped in its setup goes on with its items.',
    file: 'machines/mapreduce/run.ts',
    find: `always: [
            { guard: 'hasSetup', target: 'settingUp' },`,
    replace: 'always: [',
    suite: CONTINUING,
  },
]);
