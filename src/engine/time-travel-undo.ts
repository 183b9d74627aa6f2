/**
 * Undoes the effects that going back was told to compensate. The choice is committed first, with the checkpoint that went back;
 * each compensation is an effect of the ledger itself (PROTOCOL 3). So whoever takes the lease after a crash goes on with those
 * that have no result yet, before any step runs.
 */
import { codecErrors } from '../codec/errors.ts';
import type { LedgerEntry } from '../codec/ledger-codec.ts';
import { ledgerKey, readLedger } from '../codec/ledger-codec.ts';
import type { ThreadCodec } from '../codec/thread-codec.ts';
import type { Frame } from '../model/frame.ts';
import { withoutChoices } from '../model/past-entries.ts';
import { programErrors } from '../program/errors.ts';
import { defaultRetry } from '../program/retry.ts';
import type { AnyTool } from '../program/tool.ts';
import { checkedInput } from '../program/tool-input.ts';
import { toolNow } from '../program/versions.ts';
import { Activity } from './activity.ts';
import { controlOf } from './control-of.ts';
import { perform } from './effect.ts';
import type { EffectRequest } from './effect-request.ts';
import { effectKeyFor, stepIdFor } from './identity.ts';
import { attemptsOf } from './lost-attempts.ts';
import { entryOfTheCall, readEntry } from './made-call.ts';
import { OpenCalls } from './open-calls.ts';
import { planFor } from './plans.ts';
import type { EngineOptions, RunPorts } from './ports.ts';
import { StepLedger, settles } from './step-ledger.ts';
import type { StepRun } from './step-run.ts';
import { ledgerHere } from './step-trace.ts';
import { StepWaits } from './step-waits.ts';
import { summaryOf } from './summary.ts';
import type { ThreadWriter } from './thread-writer.ts';
import { travelErrors } from './time-travel-errors.ts';

const timeLimitMs = 60_000;

export interface UndoParts {
  readonly ports: RunPorts;
  readonly options: EngineOptions;
  readonly emit: (frame: Frame) => void;
  readonly signal: AbortSignal;
}

/**
 * Carries out what is still to be undone, in the reverse of the order in which it was done, and commits that it is; but not
 * the effects with the keys `except`.
 *
 * @throws `compensation_failed`: the thread stays as it is, and does not run before the next try succeeds. `lease_lost`
 */
export async function compensateAll(
  parts: UndoParts,
  writer: ThreadWriter,
  except: ReadonlySet<string> = new Set(),
): Promise<void> {
  const { past } = controlOf(writer.image, 0);
  const numbers = past.choices.flatMap(({ entry, choice }) => (choice === 'compensate' ? [entry] : []));
  if (numbers.length === 0) return;
  const run = await undoRun(parts, writer);
  const undone = new Set<number>();
  for (const number of numbers.sort((a, b) => b - a)) {
    const crossed = await crossedEntry(run, number);
    if (except.has(crossed.intent.key)) continue;
    await compensate(parts, run, crossed);
    undone.add(number);
  }
  if (undone.size > 0) await commitUndone(parts, writer, undone);
}

async function crossedEntry({ writer }: StepRun, number: number): Promise<LedgerEntry> {
  const entry = await readEntry(writer.codec, number);
  if (entry !== undefined) return entry;
  throw codecErrors.make('record_missing', { table: 'ledger', key: ledgerKey(number, 'i'), needed: 'a compensation' });
}

async function compensate(parts: UndoParts, run: StepRun, crossed: LedgerEntry): Promise<void> {
  const { codec } = run.writer;
  const made = await entryOfTheCall(codec, crossed);
  const { name, key } = (made ?? crossed).intent;
  const failed = (reason: string, cause?: unknown) =>
    travelErrors.make(
      'compensation_failed',
      { thread: run.writer.image.control.threadId, name, effect: key, reason },
      cause,
    );
  if (made === undefined)
    throw failed('the record of the call that was made is lost, and with it the key it was made under');
  const { tools } = parts.options.agent;
  const now = toolNow(parts.options.agent, name);
  const tool = Object.hasOwn(tools, now) ? tools[now] : undefined;
  if (!tool?.compensate) throw failed('the agent has no such tool any more, or the tool has no compensate');
  const args = await codec.decodeValue(made.intent.args);
  try {
    for (const attempt of await attemptsToUndo(codec, made)) {
      const isOwn = attempt === made.intent.attempt;
      const place = await openPlace(run, `${crossed.intent.number}${isOwn ? '' : `.of.${attempt}`}`);
      await perform(run, compensation(tool, made, attempt, args, place));
    }
  } catch (error) {
    if (programErrors.is(error, 'effect_failed')) throw failed(error.details.reason, error);
    throw error;
  }
}

/** Each try that spent its retries stays on record; the next has a place of its own. */
async function openPlace(run: StepRun, of: string): Promise<string> {
  for (let round = 1; ; round += 1) {
    const place = `undo.${of}.${round}`;
    const history = run.ledger.historyOf(await effectKeyFor(run.writer.codec, run.scheduled.step, place));
    if (history.find(settles)?.outcome?.status !== 'failed') return place;
  }
}

/** All that the entry may stand for, where others are lost: the receiver knows each by its number. Its own comes last. */
async function attemptsToUndo(codec: ThreadCodec, made: LedgerEntry): Promise<readonly number[]> {
  if (made.intent.attempt === 1) return [1];
  const { entries } = await readLedger(codec, 0, made.intent.number);
  return attemptsOf(
    made,
    entries.filter(({ intent }) => intent.key === made.intent.key),
  );
}

function compensation(
  tool: AnyTool,
  { intent }: LedgerEntry,
  attempt: number,
  args: unknown,
  place: string,
): EffectRequest {
  return {
    kind: 'compensate',
    name: `${tool.name} (compensate)`,
    effectClass: 'idempotent',
    args: [intent.key, attempt],
    place,
    retry: { ...defaultRetry, ...tool.retry },
    timeLimitMs: tool.timeLimitMs ?? timeLimitMs,
    settleMs: 0,
    run: async (_, call) => {
      // The receiver knows the effect by its own key and attempt, not by those of its compensation.
      await tool.compensate?.(checkedInput(tool, args), { ...call, effectKey: intent.key, attempt });
      return null;
    },
  };
}

/** A step of its own for the compensations: the same id on every try, as it is made of the lineage's salt. */
async function undoRun({ ports, emit, signal }: UndoParts, writer: ThreadWriter): Promise<StepRun> {
  const { codec, image } = writer;
  const { lineage, ledger } = controlOf(image, 0);
  const step = await stepIdFor(codec, { lineage, predecessor: null, node: '', path: 'undo', input: 0 });
  const found = await StepLedger.read(codec, step, ledger.from, {
    count: image.row.ledger,
    digest: image.control.ledgerDigest,
  });
  const activity = new Activity(() => undefined);
  const refuse = () => Promise.reject(new Error('A compensation asks nobody.'));
  return {
    ports,
    writer,
    scheduled: { node: '', step, path: 'undo' },
    ledger: found,
    recordedWaits: undefined,
    activity,
    calls: new OpenCalls(),
    waits: new StepWaits({
      codec,
      open: refuse,
      allow: refuse,
      nowName: (recorded) => recorded,
      isGranted: () => false,
      isListed: () => true,
      isTravelLost: () => false,
      activity,
      isSuspended: () => false,
      nowMs: () => ports.time.nowMs(),
    }),
    freshInputs: [],
    tally: { inputTokens: 0, outputTokens: 0, cost: 0 },
    grants: new Set(),
    decisions: [],
    nowName: (recorded) => recorded,
    checkBudget: () => undefined,
    signal,
    isSuspended: () => false,
    emit,
  };
}

async function commitUndone(
  { ports, options, emit }: UndoParts,
  writer: ThreadWriter,
  numbers: ReadonlySet<number>,
): Promise<void> {
  const nowMs = ports.clock.nowMs();
  const { state } = await writer.checkpoint((image) => {
    const { past } = controlOf(image, 0);
    const ledger = ledgerHere(image);
    return planFor(
      image,
      {
        cause: 'compensated',
        control: { ledger, past: withoutChoices(past, numbers) },
        events: [{ type: 'compensated', atMs: nowMs, details: { effects: numbers.size } }],
        heavy: true,
      },
      {
        options,
        random: ports.random,
        nowMs,
        believedMs: ports.time.nowMs(),
        inboxSeen: image.row.inboxTaken,
        resumes: 0,
        isForked: true, // for all that is known here
      },
    );
  });
  if (state !== null) emit({ type: 'step', step: summaryOf(state.checkpoint) });
}
