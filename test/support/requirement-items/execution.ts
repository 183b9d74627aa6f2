import type { RequirementItem } from './item.ts';

/** B: how an agent runs. */
export const executionItems: readonly RequirementItem[] = [
  {
    id: 'B1',
    title: 'Graph',
    parts: {
      a: 'nodes, edges, loops, and routers that read state',
      b: 'a run has a step limit: 50, or what the agent sets',
      c: 'node code knows nothing of storage',
      d: 'parallel branches merge by reducers in a fixed order, and one that fails undoes no other',
      e: 'fan-out over a list',
      f: 'subgraphs',
    },
  },
  {
    id: 'B2',
    title: 'Child threads',
    parts: {
      a: 'a node starts other agents, each on a thread of its own',
      b: 'a failing child stops neither siblings nor parent',
      c: 'a failing child stops the parent where the parent says so',
    },
  },
  {
    id: 'B3',
    title: 'Effects ledger',
    parts: {
      a: 'the intent (tool, arguments, call id, effect key) is durable before the effect runs',
      b: 'its result and status are durable after it',
      c: 'a node that runs again gets all its recorded results and calls nothing twice',
      d: 'a changed order of calls is detected and reported',
    },
  },
  {
    id: 'B4',
    title: 'Effect classes',
    parts: {
      a: 'read: runs again freely',
      b: 'idempotent: runs again with the same effect key, and the tool receives the key',
      c: 'once: never runs again blindly',
      d: 'in doubt: verify asks the outside world',
      e: 'in doubt: compensate undoes',
      f: 'in doubt: a person decides',
    },
  },
  {
    id: 'B5',
    title: 'Retry',
    parts: {
      a: 'a limit of attempts per node and per effect, 3 unless set',
      b: 'backoff of 1 s, 5 s, 30 s with jitter unless set',
      c: 'a time limit per attempt',
      d: 'the counters are durable: a resume does not reset them',
      e: 'an input that kills the tab each time ends in failed, by a limit of resumes',
    },
  },
  {
    id: 'B6',
    title: 'Fallbacks',
    parts: {
      a: 'another model',
      b: 'a default value, or skipping the step',
      c: 'a person',
      d: 'else the thread is failed, with an alert',
    },
  },
  {
    id: 'B7',
    title: 'Deadlines and budgets',
    parts: {
      a: 'deadlines per step and per thread last over resumes',
      b: 'a changed clock does not move them',
      c: 'token and cost budgets',
      d: 'reaching one saves the state as timed_out or out_of_budget',
      e: 'a person extends and resumes it, or gives it up',
    },
  },
  {
    id: 'B8',
    title: 'Failure classes',
    parts: {
      a: 'every interruption is recoverable, needs repair, or is final',
      b: 'a table maps class and node to retry, wait, another tool or model, a person, or stop',
      c: 'an action goes back to a chosen checkpoint with a hint added',
      d: 'an agent can replace the table',
      e: 'each decision is in the event log',
    },
  },
  {
    id: 'B9',
    title: 'Waits',
    parts: {
      a: 'the full snapshot is durable before an approval is waited for, and nothing stays in memory',
      b: 'an answer is durable and deduplicated, after any restarts and from any tab',
      c: 'a node that waits in its middle does not repeat its effects',
      d: 'an approval shows tool, arguments and why; it can be allowed, denied or edited',
      e: 'an approval can be allowed for the rest of the thread, and can expire',
      f: 'questions to the user and external events are waits too',
      g: 'timers and the network are waits too',
    },
  },
  {
    id: 'B10',
    title: 'Cancel, pause, stop',
    parts: {
      a: 'node code sees a cancel through its AbortSignal',
      b: 'a cancelled model call stops its network request',
      c: 'cancelled is a state that keeps what was done so far',
    },
  },
  {
    id: 'B11',
    title: 'Inbox',
    parts: {
      a: 'acknowledged input is durable while a thread runs',
      b: 'queue or reject',
      c: 'interrupt, and go on with the new input',
      d: 'roll back',
    },
  },
  {
    id: 'B12',
    title: 'Time travel',
    parts: {
      a: 'list and inspect checkpoints',
      b: 'diff two states, and a checkpoint against memory',
      c: 'roll back',
      d: 'fork from any checkpoint and edit the state of the fork',
      e: 'run both forks and compare them',
    },
  },
  {
    id: 'B13',
    title: 'Streaming',
    parts: {
      a: 'tokens, node events and custom events reach every open view',
      b: 'a view that comes late or again gets what it missed, in order, once',
      c: 'tokens are not written to disk one by one',
    },
  },
  {
    id: 'B14',
    title: 'Single writer',
    parts: {
      a: 'a lock lets at most one runner have a thread',
      b: 'the epoch is checked inside the transaction of the commit',
      c: 'a runner that was frozen, slept or lost its lock cannot commit',
    },
  },
  {
    id: 'B15',
    title: 'New code, open threads',
    parts: {
      a: 'a renamed or removed node or a changed graph: migration, alias, or an error with node and version',
      b: 'a changed tool or schema: migration, alias, or an error with node and version',
      c: 'a thread can be pinned to the version that began it',
    },
  },
];
