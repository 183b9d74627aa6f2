/** Runs one attempt at one step, to its end: a result, a wait, a failure, or an abort. */
import { whenAborted } from '../base/abort.ts';
import { errorFromData } from '../base/errors.ts';
import { randomFraction } from '../base/random.ts';
import type { ScheduledStep } from '../model/checkpoint.ts';
import type { Fields } from '../model/fields.ts';
import type { Frame } from '../model/frame.ts';
import type { WaitId } from '../model/ids.ts';
import type { LineFailure } from '../model/lines.ts';
import type { Wait } from '../model/wait.ts';
import type { AnyAgent } from '../program/agent.ts';
import { programErrors } from '../program/errors.ts';
import type { LanguageModel } from '../program/model.ts';
import type { NodeResult } from '../program/node-result.ts';
import { backoffLeft } from '../program/retry.ts';
import { toolNow } from '../program/versions.ts';
import { Activity } from './activity.ts';
import type { RunnableNode } from './agent-nodes.ts';
import { nodeContext } from './call-scope.ts';
import { onDemand } from './load-on-demand.ts';
import { OpenCalls } from './open-calls.ts';
import type { RunPorts } from './ports.ts';
import { Stop } from './run-end.ts';
import { StepLedger } from './step-ledger.ts';
import { never, type StepRun } from './step-run.ts';
import { type OpenWaits, StepWaits } from './step-waits.ts';
import type { ThreadState } from './thread-state.ts';
import type { ThreadWriter } from './thread-writer.ts';

export type StepEnd =
  | { readonly type: 'returned'; readonly result: NodeResult<Fields, string> }
  | { readonly type: 'waiting' }
  | { readonly type: 'threw'; readonly error: unknown };

export interface StepParts {
  readonly ports: RunPorts;
  readonly agent: AnyAgent;
  readonly model: LanguageModel | undefined;
  readonly models: Readonly<Record<string, LanguageModel>>;
  readonly writer: ThreadWriter;
  readonly emit: (frame: Frame) => void;
  /** What the line of this step was given by the fork it comes from. */
  readonly item: unknown;
  /** Lines that failed in the fork that led here. */
  readonly failures: readonly LineFailure[];
  /** What went wrong before, from the policy that took the run back to here. */
  readonly hint: string | undefined;
  /** Whether a person said what becomes of the step: its node is not run then. */
  readonly isDecided: boolean;
  /** Called before each model call. @throws Stop */
  readonly checkBudget: () => void;
  readonly allow: (wait: Pick<Wait, 'id' | 'digest'>) => Promise<void>;
  readonly openWaits: OpenWaits;
}

export interface RunningStep {
  readonly run: StepRun;
  readonly end: Promise<StepEnd>;
}

/** How long the calls of an aborted step may take to say what became of them. */
const abortGraceMs = 2_000;

/** What the thread holds for the step: where its entries begin, its waits, and what was allowed for the whole thread. */
interface Recorded {
  readonly from: number;
  readonly waits: readonly WaitId[];
  readonly grants: readonly string[];
}

export async function startStep(
  parts: StepParts,
  node: RunnableNode,
  scheduled: ScheduledStep,
  state: ThreadState,
  { from, waits, grants }: Recorded,
  signal: AbortSignal,
): Promise<RunningStep> {
  const { ports, writer, emit } = parts;
  const { row, control } = await writer.known();
  const ledger = await StepLedger.read(writer.codec, scheduled.step, from, {
    count: row.ledger,
    digest: control.ledgerDigest,
  });
  if (writer.image.state?.checkpoint.control.ledger.replay) {
    const { addReplayedInputs } = await onDemand();
    await addReplayedInputs(writer.codec, ledger);
  }
  const nowName = (recorded: string) => toolNow(parts.agent, recorded);
  const recorded = { codec: writer.codec, step: scheduled.step, nowName };
  const recordedWaits = waits.length === 0 ? undefined : await (await onDemand()).RecordedWaits.read(recorded, waits);
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
      open: async (waits, records) => {
        const check = () => {
          if (isSuspended) throw new Stop('stopped');
          limit.signal.throwIfAborted();
        };
        try {
          await parts.openWaits(waits, records, check);
        } catch (error) {
          return isSuspended ? never() : Promise.reject(error);
        }
      },
      allow: parts.allow,
      nowName,
      isGranted: (tool) => run.grants.has(tool),
      isTravelLost: () => writer.image.control.travel?.isLost === true,
      isListed: (id) => writer.image.state?.checkpoint.control.waits.includes(id) === true,
      activity,
      isSuspended: () => isSuspended,
      nowMs: () => ports.time.nowMs(),
    }),
    recordedWaits,
    freshInputs: [],
    tally: { inputTokens: 0, outputTokens: 0, cost: 0 },
    grants: new Set(grants.map(nowName)),
    decisions: [],
    signal: limit.signal,
    isSuspended: () => isSuspended,
    nowName,
    checkBudget: parts.checkBudget,
    emit,
  };
  const work = async (): Promise<StepEnd> => {
    const failed = ledger.spentBy;
    if (failed !== undefined && !parts.isDecided) {
      try {
        const { countRecordedUse } = await onDemand();
        await countRecordedUse(run, parts);
      } catch (error) {
        return { type: 'threw', error };
      }
      return { type: 'threw', error: errorFromData(failed) };
    }
    const stop = () => limit.abort(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    try {
      if (!parts.isDecided) await restAfterFailure(run, node);
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
      await Promise.race([returned, still, ports.clock.sleep(abortGraceMs, stopTimer.signal)]); // still: it only waits
      return { type: 'threw', error: limit.signal.reason };
    } finally {
      isSuspended = true;
      signal.removeEventListener('abort', stop);
      stopTimer.abort('the node ended');
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
  const [nowMs, fraction] = [ports.clock.nowMs(), randomFraction(ports.random)];
  const inMs = backoffLeft(node.retry, failures.length, { failedAtMs: outcome.atMs, nowMs, fraction });
  if (inMs === 0) return;
  const reason = outcome.error?.message ?? '';
  emit({ type: 'retry', name: node.name, attempt: failures.length + 1, inMs, reason });
  await ports.clock.sleep(inMs, signal);
}

async function runNode(parts: StepParts, node: RunnableNode, state: ThreadState, run: StepRun): Promise<StepEnd> {
  try {
    const { agent, model, models, item, failures, hint } = parts;
    if (parts.isDecided) return { type: 'returned', result: { type: 'update', update: {} } };
    const context = nodeContext({ run, agent, model, models, hint }, { node: node.name, item, failures });
    const returned = await Promise.resolve(node.run(state.values as never, context)).finally(() => {
      if (!run.isSuspended()) run.calls.nodeEnded(node.name);
    });
    const result = { ...returned };
    if (!isPlainEnd(result)) (await onDemand()).checkResult(node.name, result);
    run.calls.throwIfBlocked();
    run.calls.refuseRunning(node.name);
    run.ledger.refuseForgotten();
    run.recordedWaits?.refuseForgotten(run);
    return { type: 'returned', result };
  } catch (error) {
    return { type: 'threw', error: run.calls.blockedBy ?? error };
  }
}

/** Whether nothing of it needs a closer look. */
function isPlainEnd(result: Partial<Record<'type' | 'node', unknown>>): boolean {
  const { type, node } = result;
  return type === 'end' || type === 'update' || (type === 'goto' && typeof node === 'string');
}
