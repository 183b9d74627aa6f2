import { checkDuration, checkList } from '../program/arguments.ts';
import type { LanguageModel, ModelContext, ModelPart, ModelRequest, ModelToolCall } from '../program/model.ts';
import { checkAmount, checkOptions } from '../program/option-checks.ts';

/** What a rule answers: text, a value (sent as JSON), or tool calls. */
export interface RuleAnswer {
  readonly text?: string;
  readonly value?: unknown;
  readonly toolCalls?: readonly ModelToolCall[];
}

/** A pure function of the request. `undefined` passes it on to the next rule. */
export type ModelRule = (request: ModelRequest) => RuleAnswer | undefined;

export interface DeterministicModelOptions {
  readonly name?: string;
  readonly rules: readonly ModelRule[];
  /** Time until the first piece of the answer, and between pieces. Default 0. */
  readonly firstPieceMs?: number;
  readonly betweenPiecesMs?: number;
  /** Characters in a piece. Default 24. */
  readonly pieceLength?: number;
}

const call = 'deterministicModel(options)';

/**
 * A language model made of rules: the same request gives the same answer, with no network. It streams, calls tools, counts
 * tokens (four characters each) and stops when it is aborted, as any other model does.
 *
 * @throws `argument_invalid`
 */
export function deterministicModel(options: DeterministicModelOptions): LanguageModel {
  checkOptions(call, options, ['name', 'rules', 'firstPieceMs', 'betweenPiecesMs', 'pieceLength']);
  checkList(call, 'rules', options.rules);
  checkDuration(call, 'firstPieceMs', options.firstPieceMs);
  checkDuration(call, 'betweenPiecesMs', options.betweenPiecesMs);
  checkAmount(call, 'pieceLength', options.pieceLength, 'whole from 1');
  const { name = 'deterministic', rules, firstPieceMs = 0, betweenPiecesMs = 0, pieceLength = 24 } = options;
  return {
    name,
    async *stream(request: ModelRequest, { clock, abortSignal }: ModelContext): AsyncGenerator<ModelPart> {
      const answer = answerOf(rules, request);
      const text = answer.text ?? (answer.value === undefined ? '' : JSON.stringify(answer.value));
      await clock.sleep(firstPieceMs, abortSignal);
      const characters = [...text];
      for (let from = 0; from < characters.length; from += pieceLength) {
        if (from > 0) await clock.sleep(betweenPiecesMs, abortSignal);
        abortSignal.throwIfAborted();
        yield { type: 'text', text: characters.slice(from, from + pieceLength).join('') };
      }
      for (const call of answer.toolCalls ?? []) yield { type: 'tool_call', call };
      yield { type: 'finish', usage: { inputTokens: tokens(JSON.stringify(request)), outputTokens: tokens(text) } };
    },
  };
}

function answerOf(rules: readonly ModelRule[], request: ModelRequest): RuleAnswer {
  for (const rule of rules) {
    const answer = rule(request);
    if (answer !== undefined) return answer;
  }
  const last = request.messages.at(-1);
  const asked = last !== undefined && 'text' in last ? last.text.slice(0, 80) : '';
  throw new Error(`No rule of the deterministic model answers this request: "${asked}".`);
}

function tokens(text: string): number {
  return Math.ceil(text.length / 4);
}
