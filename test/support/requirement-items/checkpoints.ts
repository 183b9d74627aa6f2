import type { RequirementItem } from './item.ts';

/** A: what is durable. */
export const checkpointItems: readonly RequirementItem[] = [
  {
    id: 'A1',
    title: 'Checkpointer',
    parts: {
      a: 'save answers with a checkpoint id; load and loadCheckpoint give that state back',
      b: 'list names the checkpoints of a thread in commit order',
      c: 'delete removes one checkpoint, or the whole thread',
      d: 'works alone, without the engine, with a thread id from the caller',
    },
  },
  {
    id: 'A2',
    title: 'Content',
    parts: {
      a: 'the position comes back: node just run, nodes to run next, loop counts, nodes visited',
      b: 'the business state comes back',
      c: 'control comes back: retry counts per node, branches taken, step budget left, resume count',
      d: 'deadlines and the token budget left come back',
      e: 'messages come back with stable ids, tool calls by call id with their status',
      f: 'code, closures, handles and live objects are refused',
    },
  },
  {
    id: 'A3',
    title: 'Version chain',
    parts: {
      a: 'checkpoint ids sort in commit order and carry a random part',
      b: 'each checkpoint names its parent',
      c: 'a commit on a head that has moved is refused with a typed error that carries both heads',
      d: 'a refused update can be rebased: applied to the new head through the reducers',
    },
  },
  {
    id: 'A4',
    title: 'Boundaries',
    parts: {
      a: 'one checkpoint after each model node and each tool node',
      b: 'one checkpoint on entering a wait for approval',
      c: 'one checkpoint on entering a wait for a timer, an event or the network',
      d: 'one commit at the head and one at the tail of a loop body, loop counts included',
      e: 'none in the middle of a token stream',
    },
  },
  {
    id: 'A5',
    title: 'Tiers',
    parts: {
      a: 'light: a delta holds only what the step changed, large values by reference',
      b: 'heavy: a full snapshot at critical nodes and at waits',
      c: 'fallback: a full snapshot at least every N steps or T milliseconds, both configurable',
      d: 'restoring reads the newest full snapshot and the deltas after it, nothing older',
      e: 'the adaptive default picks the tier from how long and how costly the step was',
      f: 'the default N and T are those that a recorded measurement chose',
    },
  },
  {
    id: 'A6',
    title: 'Event log',
    parts: {
      a: 'append-only, in a store of its own',
      b: 'has its own retention',
      c: 'each event says who did what, when, with which input and output, and how it ended',
      d: 'the state is rebuilt from events when no snapshot is readable or all are too old',
      e: 'exports as JSON Lines',
    },
  },
  {
    id: 'A7',
    title: 'Serialization',
    parts: {
      a: 'MessagePack, with binary as bytes and never as base64',
      b: 'Date, Map, Set, BigInt, typed arrays, undefined, NaN, -0, Infinity, Error, lone surrogates and __proto__ keys return exactly',
      c: 'cyclic and shared references return exactly, or are refused',
      d: 'any other value is refused at commit time with the path to it',
      e: 'only declared fields are stored, each with schema, default, reducer and kind',
      f: 'rehydrate makes the rest again on restore',
    },
  },
  {
    id: 'A8',
    title: 'Large values',
    parts: {
      a: 'a value over the threshold is stored once, by its content, outside the snapshot',
      b: 'large values load only when they are read',
      c: 'a commit that leaves a 10 MB field alone writes what it would write without the field',
    },
  },
  {
    id: 'A9',
    title: 'Conversation',
    parts: {
      a: 'a checkpoint holds the last turns and a summary; older segments load on demand',
      b: 'a window by messages or tokens limits what a model sees',
      c: 'compaction writes a summary and archives the rest',
      d: 'messages are deduplicated by id: resuming never makes the context longer',
    },
  },
  {
    id: 'A10',
    title: 'Versions',
    parts: {
      a: 'every record has a format version, every state a state version',
      b: 'missing fields get their defaults',
      c: 'states of the last five versions pass through the migrations of the agent',
      d: 'a state too old or too new is rebuilt from events or refused, naming the version that wrote it',
      e: 'golden files of every released format still open',
    },
  },
  {
    id: 'A11',
    title: 'Integrity',
    parts: {
      a: 'a flipped bit or a truncated record is a typed error before parsing, and nothing is deleted',
      b: 'a swapped or replayed record is a typed error before parsing, and nothing is deleted',
      c: 'a damaged record is quarantined',
      d: 'the thread falls back to its newest good ancestor, or is rebuilt from events',
      e: 'the user is told what was lost',
    },
  },
  {
    id: 'A12',
    title: 'Retention',
    parts: {
      a: 'keeps the newest N checkpoints',
      b: 'failed and finished threads go after the days of their policy',
      c: 'finished threads are archived before they are purged',
      d: 'large values that nothing names are collected',
      e: 'nothing that a fork, an open wait or a restore needs is collected',
    },
  },
  {
    id: 'A13',
    title: 'Secrets',
    parts: {
      a: 'every payload at rest is encrypted with WebCrypto',
      b: 'a value declared secret never enters a checkpoint or an event',
      c: 'a value declared secret never enters a log line or an error message',
    },
  },
  {
    id: 'A14',
    title: 'Ownership',
    parts: {
      a: 'a thread belongs to a namespace and an owner, and the threads of an owner can be asked for',
      b: 'the thread of another owner can be neither read nor listed',
      c: 'sharing is explicit',
    },
  },
  {
    id: 'A15',
    title: 'Storage faults',
    parts: {
      a: 'a commit has a time limit and bounded retries',
      b: 'when the store refuses, the finished result is kept and its step is not run again',
      c: 'when the store refuses, the user is told, space is freed, and the commit goes on by itself',
      d: 'nothing acknowledged is lost',
    },
  },
];
