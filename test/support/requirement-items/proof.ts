import type { RequirementItem } from './item.ts';

/** P: speed, size, cost. H: proof. I: invariants. */
export const proofItems: readonly RequirementItem[] = [
  { id: 'P1', title: 'A sealed strict commit of 4 KB takes at most 1.3 times a bare transaction of the same bytes' },
  {
    id: 'P2',
    title: 'Stored bytes',
    parts: {
      a: '1,000 steps of 1 KB store at most 2.0 times the raw content',
      b: '10,000 steps keep that ratio',
      c: 'step 10,000 costs at most 1.2 times step 10',
    },
  },
  {
    id: 'P3',
    title: 'Restoring 10,000 steps',
    parts: {
      a: 'takes at most 1.5 times restoring 10',
      b: 'takes at most twice a bare worker start, open and read of 40 KB',
    },
  },
  {
    id: 'P4',
    title: 'Bundle size',
    parts: { a: 'the client is at most 6 KB gzip', b: 'the worker runtime is at most 45 KB gzip' },
  },
  { id: 'P5', title: "Sealed steps on the memory store: at least 20 times LangGraph.js's MemorySaver" },
  {
    id: 'P6',
    title: 'PostgreSQL',
    parts: { a: 'one round trip a step', b: 'at least 3 times the best peer in steps a second' },
  },
  { id: 'P7', title: '100 threads in one worker commit at least 5 times as many strict steps a second as one' },
  {
    id: 'P8',
    title: 'Long threads',
    parts: {
      a: 'the page gets no task over 50 ms while 1,000 steps run',
      b: 'an untouched 10 MB field adds at most 5 % to a commit',
      c: '10,000 steps need at most 1.5 times the worker memory of 100',
    },
  },
  {
    id: 'H1',
    title: 'Simulation',
    parts: {
      a: 'a seed replays exactly: clock, store, network and crashes',
      b: 'a crash can come between any two storage operations',
      c: 'every crash point of fixed scenarios is met, each with a second crash during the recovery',
      d: 'deliberate faults in the engine, the codec and the rules of the store are found',
    },
  },
  {
    id: 'H2',
    title: 'Drills',
    parts: {
      a: 'a real browser is killed at random moments of a real workflow, and another process counts the effects',
      b: 'the report compares re-runs and duplicates with and without checkpoints',
    },
  },
  { id: 'H3', title: 'Fault tests in real browsers for all of C' },
  { id: 'H4', title: 'Fuzzing of every decoder with hostile bytes' },
  {
    id: 'H5',
    title: 'Benchmarks',
    parts: {
      a: 'one command measures a commit side by side with a bare transaction, in one table',
      b: 'the other numbers of P are measured side by side with their peers',
    },
  },
  { id: 'I1', title: 'Acknowledged is durable' },
  { id: 'I2', title: 'One commit, one transaction' },
  { id: 'I3', title: 'Nothing foreign inside a transaction' },
  { id: 'I4', title: 'Head and epoch are checked inside the transaction' },
  { id: 'I5', title: 'Intent before call, result at once' },
  { id: 'I6', title: 'Same results on re-run' },
  { id: 'I7', title: 'Any prefix is enough' },
  { id: 'I8', title: 'Cost follows change' },
  { id: 'I9', title: 'Sealed below the engine' },
  { id: 'I10', title: 'Nothing good is destroyed by something bad' },
];
