/** Runs one attempt at one step, to its end: a result, a wait, a failure, or an abort. */
import { whenAborted } from '../base/abort.ts';
import { errorFromData } from '../base/errors.ts';
import { randomFraction } from '../base/random.ts';
import type { ThreadImage } from '../codec/thread-image.ts';
import type { ScheduledStep } from '../model/checkpoint.ts';
import type { RecordWrite } from '../model/commit.ts';
import type { Fields } from '../model/fields.ts';
import type { Frame } from '../model/frame.ts';
import type { Wait } from '../model/wait.ts';
import type { AnyAgent } from '../program/agent.ts';
import { programErrors } from '../program/errors.ts';
import type { LanguageModel } from '../program/model.ts';
import type { NodeResult } from '../program/node-result.ts';
import { backoffLeft } from '../program/retry.ts';
import { Activity } from './activity.ts';
import { checkedResult, type RunnableNode } from './agent-nodes.ts';
import { nodeContext } from './call-scope.ts';
import { OpenCalls } from './open-calls.ts';
import type { EnginePorts } from './ports.ts';
import { StepLedger } from './step-ledger.ts';
import type { StepRun } from './step-run.ts';
import { StepWaits } from './step-waits.ts';
import type { ThreadState } from './thread-state.ts';
import type { ThreadWriter } from './thread-writer.ts';

export type StepEnd =
  | { readonly type: 'returned'; readonly result: NodeResult<Fields, string> }
  | { readonly type: 'waiting' }
  | { readonly type: 'threw'; readonly error: unknown };

export interface StepParts {
  readonly ports: EnginePorts;
  readonly agent: AnyAgent;
  readonly model: LanguageModel | undefined;
  readonly writer: ThreadWriter;
  readonly emit: (frame: Frame) => void;
  readonly allow: (wait: Pick<Wait, 'id' | 'digest'>) => Promise<void>;
  readonly openWaits: (waits: readonly Wait[], records: readonly RecordWrite[]) => Promise<void>;
}

export interface RunningStep {
  readonly run: StepRun;
  readonly end: Promise<StepEnd>;
}

/** How long the calls of an aborted step may take to say what became of them. */
const abortGraceMs = 2_000;

export async function startStep(
  parts: StepParts,
  node: RunnableNode,
  scheduled: ScheduledStep,
  state: ThreadState,
  image: ThreadImage,
  signal: AbortSignal,
): Promise<RunningStep> {
  const { ports, writer, emit } = parts;
  const control = image.state?.checkpoint.control;
  const ledger = await StepLedger.read(writer.codec, scheduled.step, control?.ledger.from ?? 0, {
    count: image.row.ledger,
    digest: image.control.ledgerDigest,
  });
  const limit = new AbortController();
  let isSuspended = false;
  let onStill: () => void = () => undefined;
  const still = new Promise<'still'>((resolve) => {
    onStill = () => resolve('still');
  });
  // Suspended in the same instant: an answer that is found after it is left to the next run of the node.
  const activity = new Activity(() => {
    isSuspended = true;
    onStill();
  });
  const run: StepRun = {
    ports,
    writer,
    scheduled,
    ledger,
    activity,
    calls: new OpenCalls(),
    waits: new StepWaits({
      codec: writer.codec,
      open: parts.openWaits,
      allow: parts.allow,
      isGranted: (tool) => run.tally.grants.has(tool),
      activity,
      isSuspended: () => isSuspended,
      nowMs: () => ports.clock.nowMs(),
    }),
    freshInputs: [],
    tally: { inputTokens: 0, outputTokens: 0, grants: new Set(control?.grants ?? []) },
    signal: limit.signal,
    isSuspended: () => isSuspended,
    emit,
  };
  const work = async (): Promise<StepEnd> => {
    const stop = () => limit.abort(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    try {
      await restAfterFailure(run, node);
    } catch (error) {
      signal.removeEventListener('abort', stop);
      return { type: 'threw', error };
    }
    const stopTimer = new AbortController();
    const timer = ports.clock.sleep(node.timeLimitMs, stopTimer.signal).then(
      () => limit.abort(programErrors.make('node_timed_out', { node: node.name, afterMs: node.timeLimitMs })),
      () => undefined, // stopped: the node ended in time
    );
    const returned = runNode(parts, node, state, run);
    try {
      const first = await Promise.race([returned, still, whenAborted(limit.signal)]);
      if (first === 'still') return { type: 'waiting' };
      if (first !== 'aborted') return first;
      await Promise.race([returned, ports.clock.sleep(abortGraceMs, stopTimer.signal)]);
      return { type: 'threw', error: limit.signal.reason };
    } finally {
      isSuspended = true;
      signal.removeEventListener('abort', stop);
      stopTimer.abort();
      await timer;
    }
  };
  return { run, end: work() };
}

/** What is left of the wait after a failed attempt of the node: a restart does not shorten it. */
async function restAfterFailure({ ledger, ports, emit, signal }: StepRun, node: RunnableNode): Promise<void> {
  const failures = ledger.nodeFailures;
  const outcome = failures.at(-1)?.outcome;
  if (outcome === undefined) return;
  if (outcome.final && outcome.error !== null) throw errorFromData(outcome.error); // spent: only the end was not committed
  const [nowMs, fraction] = [ports.clock.nowMs(), randomFraction(ports.random)];
  const inMs = backoffLeft(node.retry, failures.length, { failedAtMs: outcome.atMs, nowMs, fraction });
  if (inMs === 0) return;
  const reason = outcome.error?.message ?? '';
  emit({ type: 'retry', name: node.name, attempt: failures.length + 1, inMs, reason });
  await ports.clock.sleep(inMs, signal);
}

async function runNode(parts: StepParts, node: RunnableNode, state: ThreadState, run: StepRun): Promise<StepEnd> {
  try {
    const context = nodeContext({ run, agent: parts.agent, model: parts.model });
    const result = checkedResult(node.name, await node.run(state.values as never, context));
    run.calls.throwIfBlocked();
    run.calls.refuseRunning(node.name);
    run.ledger.refuseForgotten();
    return { type: 'returned', result };
  } catch (error) {
    return { type: 'threw', error: run.calls.blockedBy ?? error };
  }
}
