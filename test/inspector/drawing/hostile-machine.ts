/**
 * Machines that a drawing must survive: names of markup, of controls and marks of direction, of great length,
 * and every construct of XState at once.
 */

import { createMachine } from 'xstate';

export const HOSTILE_NAMES = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  ']]>--><!--',
  'right\u202Eleft\u0000null\u001B[31m',
  'a'.repeat(200 * 1024),
  '{7*7} %s \\n "quoted" \'single\' `tick`',
  '汉字 🦄 ñ',
];

export const hostileMachine = createMachine({
  id: HOSTILE_NAMES[0] as string,
  initial: 's0',
  states: {
    s0: {
      id: 's0',
      on: Object.fromEntries(HOSTILE_NAMES.map((name, index) => [name, `#h${index}`])),
    },
    ...Object.fromEntries(
      HOSTILE_NAMES.map((name, index) => [
        name.replaceAll('.', ''),
        {
          id: `h${index}`,
          tags: [name],
          description: name,
          on: { next: { target: '#s0', guard: name }, [name]: { actions: name } },
          after: { [name]: '#s0' },
        },
      ]),
    ),
  },
});

export const everythingMachine = createMachine({
  id: 'everything',
  initial: 'idle',
  on: { reset: '.idle', ping: { actions: 'answer' } },
  states: {
    idle: { tags: ['calm'], on: { go: 'busy', '*': { actions: 'note' } } },
    busy: {
      type: 'parallel',
      invoke: {
        src: 'load',
        id: 'loading',
        onDone: 'over',
        onError: { target: 'idle', guard: 'isSoft' },
      },
      states: {
        left: {
          initial: 'one',
          states: {
            one: { after: { 1000: 'two', patience: { target: 'two', guard: 'isLate' } } },
            two: {
              always: { guard: 'isBack', target: 'one' },
              on: { again: { target: 'two', reenter: true } },
            },
            memory: { type: 'history', history: 'deep' },
          },
        },
        right: { initial: 'a', states: { a: { on: { end: 'b' } }, b: { type: 'final' } } },
      },
      onDone: 'over',
      on: { jump: ['#everything.paused'], both: { target: ['.left.two', '.right.b'] } },
    },
    paused: { on: { resume: 'busy.left.memory' } },
    over: { type: 'final' },
  },
});
