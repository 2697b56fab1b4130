/**
 * `escapement/inspector`: the inspector of a runtime, to mount in any server, and explanations and recordings as data.
 *
 * This is a public entry. Importing it starts nothing and listens nowhere. docs/inspector.md is the guide.
 */

export type { Admission, Authorize, InspectorToken, Viewer } from './access.ts';
export type { InspectorListener } from './listen.ts';
export { type InspectorHandler, inspectorHandler } from './mount.ts';
export type { InspectorHandlerOptions, InspectorOptions, RecordOptions } from './options.ts';
export type { RecordedHeader, RecordedLine, Why, WhyCause } from './protocol.ts';
export { serveInspector } from './serve.ts';
export {
  type StatelyAdapter,
  type StatelyAdapterOptions,
  statelyAdapter,
} from './stately-adapter.ts';
