/** A call of a tool that this agent does not have: another version may have it, or a model has made its name up. */
import { type LedgerEntry, readLedger } from '../codec/ledger-codec.ts';
import type { ThreadCodec } from '../codec/thread-codec.ts';
import type { AnyAgent } from '../program/agent.ts';
import { programErrors } from '../program/errors.ts';
import type { ModelAnswer, ModelRequest } from '../program/model.ts';
import type { StepRun } from './step-run.ts';

/**
 * The error of such a call. `isMissing` says whether it stops the thread until a version comes that has the tool: not where the name is
 * no text, nor where a model gave it that was not offered it, and nothing on record was ever called so.
 */
export async function unknownTool(run: StepRun, agent: AnyAgent, tool: unknown): Promise<Error> {
  const known = Object.keys(agent.tools).map((name) => `"${name}"`);
  const isMissing = typeof tool === 'string' && !(await isMadeUp(run, tool));
  return programErrors.make('tool_unknown', { tool: String(tool), known: known.join(', ') || 'none', isMissing });
}

async function isMadeUp(run: StepRun, tool: string): Promise<boolean> {
  if (run.recordedWaits?.isOf(tool)) return false;
  const { codec, image } = run.writer;
  const { entries } = await readLedger(codec, 0, image.row.ledger);
  if (entries.some(({ intent }) => intent.kind === 'tool' && intent.name === tool)) return false;
  const models = entries.filter(({ intent }) => intent.kind === 'model');
  const made = await Promise.all(models.map((entry) => madeUp(codec, entry, tool)));
  return made.includes(true);
}

/** As a call of a tool, or as a text in data that it answered. */
async function madeUp(codec: ThreadCodec, { intent, outcome }: LedgerEntry, tool: string): Promise<boolean> {
  if (outcome?.value === undefined || outcome.value === null) return false;
  const { text, toolCalls } = (await codec.decodeValue(outcome.value)) as ModelAnswer;
  if (!text.includes(JSON.stringify(tool)) && !toolCalls.some((call) => call.tool === tool)) return false;
  const { tools = [] } = (await codec.decodeValue(intent.args)) as ModelRequest;
  return !tools.some(({ name }) => name === tool);
}
