/**
 * Limits that the swarm does not draw tiny, by the reason why not.
 *
 * Named by file and constant. Who adds a limit makes it an option or a knob (runtime/knob.ts) and gives it
 * a tiny value in simulator/swarm/tiny.ts, or adds it here.
 */

/** Limits of runtimes (runtime/options.ts). */
export const UNDRAWN_LIMITS: Readonly<Record<string, string>> = {
  dedupRetentionMs:
    'shorter than an outage a repetition is taken for new, by its very meaning; options of the jobs system draw it from a second on, and MS-2 reckons with it',
  sendersMax:
    'open: a receiver that is let go before a message to it is settled keeps the mark of its sender until the retention is over, so few actors in memory fill its inbox (seed 7002 with --tiny while it was drawn)',
  endedRetentionMs: 'is jobRetentionMs, an option of the jobs system, and drawn with those',
  recordBytesMax:
    'what is too large is refused before it is accepted; a smaller record would make accepted jobs fail',
  childrenMax: 'bounds a mistake of a machine; no machine of the jobs system has children',
  microstepsMax: 'bounds a mistake of a machine: RT-4 judges how many steps turns take',
  askTimeoutMs:
    'a time that a caller waits, drawn nowhere because invariants reckon with the true one',
  retryMinMs: 'a rhythm that bounds of invariants are reckoned from',
  retryMaxMs: 'a rhythm that bounds of invariants are reckoned from',
  retryJitterPercent: 'a rhythm that bounds of invariants are reckoned from',
  messageBytesMax:
    'a smaller one makes messages of the system itself unsendable; test/delivery/pieces.test.ts has its edges',
  clientMessageBytesMax:
    'a smaller one makes submissions unsendable; test/delivery/pieces.test.ts has its edges',
  pieceWaitMs:
    'a simulated network has no largest frame; test/delivery/pieces.test.ts has its edges',
  textLengthMax: 'bounds hostile peers: the fuzzer',
  payloadLengthMax: 'bounds hostile peers: the fuzzer',
  peerFaultsMax: 'bounds hostile peers: the fuzzer and the Byzantine peer',
  peerFaultsWindowMs: 'bounds hostile peers: the fuzzer and the Byzantine peer',
  peerMessagesPerSecond: 'bounds hostile peers: a smaller one disconnects honest ones',
  fenceMemoryMs: 'bounds hostile peers: a time after which a claim is forgotten',
  fenceStepMax: 'bounds hostile peers: the fuzzer and the Byzantine peer',
  questionsMax: 'test/delivery/questions.test.ts: beyond it a client only asks again',
  clientMessagesPerMinute: 'bounds hostile peers: a smaller one disconnects honest ones',
};

/** Constants, by reason. */
export const UNDRAWN_CONSTANTS: ReadonlyArray<readonly [reason: string, names: readonly string[]]> =
  [
    [
      'the layout of bytes or of a text, not a limit',
      [
        'runtime/json-scan.ts ESCAPE_LENGTH_MAX',
        'programs/jobs/submission-body.ts ID_BYTES',
        'programs/jobs/submission-body.ts PLACE_BYTES',
        'runtime/outgoing.ts ENTRY_LENGTH',
        'runtime/outgoing.ts COUNTER_LENGTH',
        'runtime/pieces.ts BYTES_PER_CODE_UNIT_MAX',
        'runtime/pieces.ts HEADER_BYTES_MAX',
        'programs/jobs/submission-pages.ts BASE_LENGTH',
        'programs/jobs/submission-pages.ts DEPENDENCY_LENGTH',
        'stores/directory/socket.ts ABSTRACT_NAME_BYTES',
        'stores/lmdb/environment.ts META_BYTES',
        'stores/lmdb/environment.ts LAST_PAGE_AT',
        'stores/lmdb/environment.ts NO_PAGE',
        'stores/lmdb/environment.ts ROOM_BYTES_MIN',
        'stores/lmdb/environment.ts META_PAGES',
        'stores/lmdb/history.ts CHUNK_HEAD_BYTES',
        'stores/lmdb/history.ts PART_HEAD_BYTES',
        'stores/lmdb/history.ts ROWS_PER_PART_MAX',
        'stores/lmdb/query.ts HASH_LENGTH',
        'stores/lmdb/row.ts HEAD_BYTES',
        'stores/lmdb/row.ts CHECKSUM_BYTES',
        'stores/lmdb/row.ts TAGS_BYTES_MAX',
        'stores/lmdb/undelivered.ts CHECKSUM_BYTES',
        'stores/lmdb/writer.ts PAGES_BYTES_PER_WRITE',
        'transports/in-process.ts BYTES_PER_CODE_UNIT_MAX',
        'transports/websocket/challenges.ts EXPIRY_BYTES',
        'transports/websocket/challenges.ts CHANCE_BYTES',
        'transports/websocket/challenges.ts SEAL_BYTES',
        'transports/websocket/challenges.ts NONCE_BYTES',
        'transports/websocket/frame-text.ts LINK_ID_LENGTH',
        'transports/websocket/frame-text.ts CHECKSUM_LENGTH',
        'transports/websocket/frame-text.ts NUMBER_LENGTH',
        'transports/websocket/frame-watch.ts LENGTH',
        'transports/websocket/frame-watch.ts MASK_BYTES',
        'transports/websocket/frame-watch.ts HEADER_BYTES_MAX',
        'transports/websocket/link.ts BYTES_PER_CODE_UNIT_MAX',
      ],
    ],
    [
      'what a message may look like: both ends have to agree, and the fuzzer sends what is beyond it',
      [
        'machines/jobs/messages/fields.ts COUNT_MAX',
        'machines/jobs/messages/fields.ts FENCE_MAX',
        'runtime/fence.ts FENCE_MAX',
        'runtime/envelope.ts NAME_MAX',
        'runtime/envelope.ts DEPTH_MAX',
        'runtime/envelope.ts KEYS_MAX',
        'runtime/json-scan.ts NUMBER_LENGTH_MAX',
        'runtime/peer-authority.ts FRAME_DEPTH_MAX',
        'runtime/peer-authority.ts KEYS_MAX',
        'runtime/peer-authority.ts PARTS_MAX',
        'runtime/pieces.ts FRAME_ROOM_BYTES',
        'runtime/pieces.ts PIECES_MAX',
        'runtime/wire.ts PLACES_MAX',
        'runtime/wire.ts SINGLES_MAX',
        'runtime/wire.ts BURST_MAX',
        'runtime/rank.ts RANK_TEXT_MAX',
        'programs/jobs/submission.ts BODY_BYTES_MAX',
        'programs/jobs/worker/handlers.ts HANDLERS_MAX',
        'programs/jobs/worker/outcome.ts CODE_LENGTH_MAX',
        'programs/jobs/worker/outcome.ts DETAIL_LENGTH_MAX',
        'programs/jobs/worker/shell.ts OUTPUT_BYTES_MAX',
        'machines/jobs/messages/client.ts CORES_MAX',
        'machines/jobs/messages/client.ts WORKFLOWS_MAX',
        'machines/jobs/messages/fields.ts PAGE_ENTRIES_MAX',
        'machines/jobs/messages/fields.ts TIMEOUT_MS_MAX',
        'machines/jobs/messages/fields.ts PAYLOAD_BYTES_MAX',
        'stores/directory/lock.ts LEASE_MS_MIN',
        'stores/directory/owner-file.ts LEASE_MS_MAX',
        'stores/directory/owner-file.ts TEXT_BYTES_MAX',
        'stores/directory/owner-file.ts TIME_MAX',
        'stores/lmdb.ts HISTORY_MAX',
        'transports/in-process.ts DEFAULT_FRAME_BYTES_MAX',
        'transports/websocket/door.ts HEADER_BYTES_MAX',
        'transports/websocket/frame-text.ts FRAME_CHARGE_MIN',
        'transports/websocket/link.ts REASON_LENGTH_MAX',
        'transports/websocket/options.ts SECRET_BYTES_MIN',
      ],
    ],
    [
      'cuts a text for people, or how many lines of it are told',
      [
        'programs/jobs/desk-admission.ts REFUSALS_LOGGED_PER_SECOND',
        'runtime/arrivals.ts REFUSALS_LOGGED_PER_SECOND',
        'runtime/errors.ts MESSAGE_MAX',
        'runtime/rehearsal-findings.ts DETAILS_MAX',
        'programs/jobs/configuration.ts MISTAKES_MAX',
        'programs/jobs/configuration/suggestion.ts LETTERS_PER_MISTAKE',
        'programs/jobs/configuration/suggestion.ts NAME_LENGTH_MAX',
        'programs/jobs/worker/shell.ts ERROR_BYTES_MAX',
        'transports/websocket/door.ts REFUSALS_LOGGED_PER_SECOND',
      ],
    ],
    [
      'a time or a rhythm, and no number of things: faults and clocks of runs go around it',
      [
        'runtime/system-clock.ts SLEW_MAX',
        'stores/directory/claim.ts BEATS_PER_LEASE',
        'stores/directory/claim.ts LOOKS_PER_LEASE',
        'stores/directory/standby.ts LOOKS_PER_LEASE',
        'transports/websocket/dialler.ts DOUBLINGS_MAX',
      ],
    ],
    [
      'a fuse against what goes round for ever; one less would give up what only takes its time',
      ['runtime/delivery.ts KIND_ATTEMPTS_MAX', 'stores/directory/claim.ts ROUNDS_MAX'],
    ],
    [
      'real sockets and files, which simulated runs have not; their own tests go to the limit',
      [
        'runtime/system-clock.ts TASKS_PER_WAKE_MAX',
        'stores/directory/socket.ts WATCHERS_MAX',
        'stores/lmdb/check.ts NEW_TRANSACTIONS_MAX',
        'runtime/newcomers.ts LOOKED_AT',
        'transports/websocket/crowd.ts SHED_AT_ONCE',
        'transports/websocket/bans.ts BANS_MAX',
        'transports/websocket/call.ts BUFFERED_CHUNKS_MAX',
        'transports/websocket/challenges.ts USED_MAX',
        'transports/websocket/crowd.ts ADDRESSES_MAX',
        'transports/websocket/links.ts EPOCHS_MAX',
      ],
    ],
    ['how deep a text is looked into before it is measured', ['runtime/text.ts DEPTH_MAX']],
    [
      'what records of before an option have: it is the option that is drawn',
      ['machines/jobs/job/workflows.ts READY_MAX', 'programs/jobs/manager/migrations.ts QUEUE_MAX'],
    ],
  ];
