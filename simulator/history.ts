/**
 * Door of `history/`: what happened in a run, in order.
 */

export {
  type AnswerFact,
  type CallFact,
  type CommitFact,
  type FaultFact,
  type FrameFact,
  History,
  type HistoryFact,
  type HistoryRecord,
  type LeaseFact,
  type LogFact,
  type NodeFact,
  type QuestionFact,
  type RecordOf,
  type SentFact,
  type TimersFact,
  type TurnFact,
  type WorkFact,
} from './history/history.ts';
