/**
 * Protocol between an inspector's server and its page: the types of everything that crosses, and nothing that runs
 * but two version numbers. It is safe to import in a browser.
 *
 *   page ──GET api/…──▶ server      windows of lists, one actor, its turns, why: what is asked for is in the URL
 *   page ◀──api/stream── server     one stream of frames: server-sent events, each with the server's time
 *   page ──POST api/watch──▶ server what the stream tells, set whole each time
 *   page ──POST api/command──▶      answered taken, ignored, or refused and why
 *
 * The page is static files. The server serves `inspector/dist` (`dist/inspector/page` in the package: index.html
 * and `assets/`) at the path where it is mounted, with `Content-Security-Policy: default-src 'none'; script-src
 * 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; worker-src 'self'; base-uri
 * 'none'; form-action 'none'; frame-ancestors 'none'`, so it has no inline script, no inline style element and no
 * `style=` in its HTML (styles set by code through the DOM are allowed). All of its addresses are relative.
 *
 * A single file (`--html`) is the same page with `<script type="application/json" id="escapement-recording">`, which
 * holds a recording as JSON text of its lines; the page then answers its queries itself from inspector/at-rest.ts,
 * by the same pure functions as the server, and asks nothing over the network.
 *
 * Fields are added to these types, never changed or taken away, as long as PROTOCOL_VERSION stays the same.
 */

export type {
  ActorDetail,
  ActorExit,
  ActorLine,
  ActorStatus,
  ChildLine,
  Deadline,
  ErrorLine,
  EventForm,
  Lane,
  LaneBar,
  LaneMark,
  MessageLine,
  Shown,
  TurnLine,
  WaitingSort,
} from './protocol/actors.ts';
export type {
  ChartCause,
  ChartDefinition,
  ChartState,
  ChartStateType,
  ChartTransition,
  KindDefinition,
} from './protocol/chart.ts';
export type { Command, CommandAnswer } from './protocol/commands.ts';
export {
  type ActorAnswer,
  type ActorsPage,
  type ActorsQuery,
  type Attention,
  type CanAnswer,
  type Capability,
  type CapabilityName,
  type Hello,
  type KindLine,
  type LinkLine,
  type Missing,
  type NodeLine,
  type Overview,
  PROTOCOL_VERSION,
  type Series,
  type SourceSort,
} from './protocol/queries.ts';
export {
  type CauseLine,
  type PatchStep,
  RECORDING_VERSION,
  type RecordedFailure,
  type RecordedHeader,
  type RecordedLine,
  type RecordedOther,
} from './protocol/recording.ts';
export type {
  DelegationLine,
  PartLine,
  QuestionLine,
  QuestionOption,
  RunLine,
  RunsView,
  WorkerLine,
} from './protocol/runs.ts';
export type { Frame, Watch } from './protocol/stream.ts';
export type {
  FailureAnswer,
  FleetState,
  FleetView,
  MessagesAnswer,
  ShadowLine,
  TimelineAnswer,
  TimeoutLine,
  TimeoutsView,
  ToldLine,
  ToldPage,
  TurnsPage,
  UndeliveredLine,
  UndeliveredPage,
  WhyAnswer,
} from './protocol/views.ts';
export type {
  BudgetLine,
  ChainLine,
  SilentLine,
  Why,
  WhyCause,
} from './protocol/why.ts';
