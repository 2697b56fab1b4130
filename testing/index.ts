/**
 * Entry `escapement/testing`: machines in virtual time, and tests that are made from machines.
 *
 * This is a public entry. `testRuntime` is for tests that a person writes; the rest writes them: see
 * docs/testing.md and docs/model-tests.md.
 */

export {
  type ActorHandle,
  type AnyStateMachine,
  parseDuration,
  SeededRandom,
  SimulatedClock,
  TestRuntime,
  type TestRuntimeOptions,
  testRuntime,
} from '../simulator/testing.ts';
export type { JournalTurn, Move } from './journal/journal.ts';
export type { JournalIssue, JournalReport, SeenMove } from './journal/judge.ts';
export { describeJournal, JournalError, testJournal } from './journal/test-journal.ts';
export type { LintIssue } from './lint/finding.ts';
export { lint } from './lint/lint.ts';
export { type Coverage, coverageOf, type Unreachable } from './model/coverage.ts';
export type { Driver, DriverFactory } from './model/driver.ts';
export { engineDriver } from './model/engine-driver.ts';
export type { Invariant, LiveFailure } from './model/live.ts';
export type { Measure } from './model/noting.ts';
export type { Observation, Oracle } from './model/observation.ts';
export type { GivenSamples } from './model/samples.ts';
export type { SentEvent, TestCase, TestStep } from './model/step.ts';
export { type Phase, Suite, type SuiteOptions } from './model/suite.ts';
export {
  createTestModel,
  type PathParams,
  type PathStep,
  TestModel,
  type TestModelOptions,
  type TestPath,
} from './model/test-model.ts';
export {
  describeMachine,
  describePaths,
  invariant,
  MachineTestError,
  type MachineTestOptions,
  type MachineTestReport,
  propertyTest,
  type StoredPath,
  type StoredStates,
  testPaths,
} from './model/test-paths.ts';
export { type MutationScore, type Survivor, scoreOf } from './mutants/mutation-score.ts';
