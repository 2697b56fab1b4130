/**
 * Addresses of the actors of a plan's run: every one is made here and nowhere else. All live at one place.
 */

export const orchestrationAddress = (runId: string): `orchestration/${string}` =>
  `orchestration/${runId}`;

export const taskAddress = (runId: string, taskId: string): `task/${string}` =>
  `task/${runId}/${taskId}`;

/** An attempt fence is `<task>#<n>`, which an address cannot have. */
export const agentAddress = (runId: string, attemptId: string): `agent/${string}` =>
  `agent/${runId}/${attemptId.replace('#', '/')}`;

/** `delegationId` is the attempt's id and a number of its own: `<task>#<n>.e1`. */
export const delegationAddress = (runId: string, delegationId: string): `delegation/${string}` =>
  `delegation/${runId}/${delegationId.replace('#', '/')}`;

/** The attempt fence: never used again. Attempts count from 1. */
export const attemptIdOf = (taskId: string, attempt: number): string => `${taskId}#${attempt}`;

export const questionIdOf = (runId: string, number: number): string => `${runId}-q${number}`;
