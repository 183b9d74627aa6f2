import { checkDuration, checkList, kindOf, refuse } from '../program/arguments.ts';
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
  for (const [index, rule] of options.rules.entries())
    if (typeof rule !== 'function') refuse(call, `rule ${index + 1} is ${kindOf(rule)}, not a function`);
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
  for (const [index, rule] of rules.entries()) {
    const answer = rule(request);
    if (answer === undefined) continue;
    checkAnswer(`rule ${index + 1} gave`, answer);
    return answer;
  }
  const last = request.messages.at(-1);
  const asked = last !== undefined && 'text' in last ? last.text.slice(0, 80) : '';
  throw new Error(`No rule of the deterministic model answers this request: "${asked}".`);
}

const answerKeys = ['text', 'value', 'toolCalls'];

/** What would pass for an empty answer. @throws `argument_invalid` */
function checkAnswer(rule: string, answer: RuleAnswer): void {
  if (typeof answer !== 'object' || answer === null) refuse(call, `${rule} what is ${kindOf(answer)}, not an object`);
  if ('then' in answer) refuse(call, `${rule} a promise: it must answer at once`);
  const keys = Object.keys(answer);
  const strange = keys.find((key) => !answerKeys.includes(key));
  if (strange !== undefined) refuse(call, `${rule} "${strange}"; there are ${answerKeys.join(', ')}`);
  if (keys.length === 0) refuse(call, `${rule} nothing: give text, value or toolCalls`);
  const { text = '' } = answer;
  if (typeof text !== 'string') refuse(call, `${rule} a text ${kindOf(text)}, not a text`);
}

function tokens(text: string): number {
  return Math.ceil(text.length / 4);
}
