/**
 * The services that an agent talks to, and the network in between. They outlive every process. What they carry out is counted
 * by logical intention ("the third call of that node for that input"), not by key: a wrong key would hide the fault it causes.
 * What a fork calls for beyond the place that it was made at is another intention than the same call of its source.
 */
import type { ModelContext, ModelPart, ModelRequest } from '../../../src/program/model.ts';
import { done, notDone, Refusal, type ToolCall, unknown, type Verdict } from '../../../src/program/tool.ts';
import type { CallArgs } from '../plan/plan.ts';
import type { ToolName } from '../plan/tools.ts';
import type { Dice } from './dice.ts';
import type { Findings } from './findings.ts';
import type { Timeline } from './timeline.ts';

/** Longest way of a request. */
const slowestMs = 3_000;

interface Reply {
  readonly value?: unknown;
  readonly error?: unknown;
  readonly afterMs: number;
}

export class Outside {
  /** Times that each intention was carried out, and taken back. */
  readonly carried = new Map<string, number>();
  readonly undone = new Map<string, number>();
  /** Key and attempt of what was asked to be taken back, whether it had happened or not. */
  readonly undoneKeys = new Set<string>();
  /** Keys that each intention came with. */
  readonly keys = new Map<string, Set<string>>();
  /** Tool of each intention that was ever asked for. */
  readonly tools = new Map<string, ToolName | 'model'>();
  /** Whole answers of the model that each intention was given: each of them costs. */
  readonly paid = new Map<string, number>();
  /** Every result that was ever given, by intention. */
  readonly results = new Map<string, Set<string>>();
  requests = 0;
  /** How often the model was asked once more, and said something else. */
  saidOtherwise = 0;
  /** Whether every receiver closes what it is asked about: where clocks jump, no time says that a call is over. */
  closesAlways = false;
  /** How long the next request is on its way, where that is fixed. */
  nextWayMs: number | undefined;
  readonly #arrivals = new Map<string, number>();
  readonly #receipts = new Map<string, { readonly result: string; readonly attempt: number }>();
  readonly #closed = new Map<string, number>();
  /** Whether the network is there. */
  isOnline = true;
  /** Whether it was ever away. */
  wasOffline = false;
  readonly #onTheWay = new Map<string, number>();
  readonly #timeline: Timeline;
  readonly #dice: Dice;
  readonly #findings: Findings;

  constructor(timeline: Timeline, dice: Dice, findings: Findings) {
    this.#timeline = timeline;
    this.#dice = dice;
    this.#findings = findings;
  }

  call(tool: ToolName, args: CallArgs, call: ToolCall): Promise<string> {
    this.#know(args.place, tool, call.effectKey);
    return this.#travel(`${tool} ${args.place} attempt ${call.attempt}`, args.place, () =>
      this.#carryOut(tool, args, call),
    ) as Promise<string>;
  }

  verify(tool: ToolName, args: CallArgs, { effectKey, attempt }: ToolCall): Promise<Verdict<string>> {
    return this.#travel(`verify ${tool} ${args.place} attempt ${attempt}`, undefined, () => {
      const mood = args.verifies[this.#count(`verify ${args.place}`)];
      if (mood === 'error') return { error: new Error('The receiver cannot be asked.'), afterMs: 1 };
      if (mood === 'unknown') return { value: unknown, afterMs: 1 };
      const receipt = this.#receipts.get(effectKey);
      if (receipt !== undefined) return { value: done(receipt.result), afterMs: 1 };
      const closed = tool === 'pay' || this.closesAlways;
      if (closed) this.#close(effectKey, attempt);
      return { value: notDone({ closed }), afterMs: 1 };
    }) as Promise<Verdict<string>>;
  }

  compensate(tool: ToolName, args: CallArgs, { effectKey, attempt }: ToolCall): Promise<void> {
    return this.#travel(`compensate ${tool} ${args.place}`, undefined, () => {
      if (args.verifies[this.#count(`compensate ${args.place}`)] === 'error') {
        return { error: new Error('The receiver cannot be reached.'), afterMs: 1 };
      }
      this.#close(effectKey, attempt);
      this.undoneKeys.add(`${effectKey} ${attempt}`);
      // A request that comes late must not undo an attempt that was made since.
      const isDone = (this.#receipts.get(effectKey)?.attempt ?? Infinity) <= attempt;
      if (isDone && this.#receipts.delete(effectKey)) raise(this.undone, args.place);
      return { afterMs: 1 };
    }) as Promise<void>;
  }

  /** @param marks what intentions of the thread that asks begin with. */
  async *stream(
    request: ModelRequest,
    context: ModelContext,
    marks: string,
  ): AsyncGenerator<ModelPart, void, undefined> {
    const [message] = request.messages;
    const prompt = message !== undefined && 'text' in message ? message.text : '';
    const [asked = '', breaksOff = '0'] = prompt.split(' ');
    const place = marks + asked;
    this.#know(place, 'model', context.effectKey);
    const text = await this.#travel(`model ${place} attempt ${context.attempt}`, place, () => {
      const count = this.#count(place);
      if (count < Number(breaksOff)) return { error: new Error('The answer broke off.'), afterMs: 2 };
      raise(this.paid, place);
      if (this.results.has(place)) this.saidOtherwise += 1;
      const said = `said ${this.#dice.below(1_000)} #${count}`;
      this.#result(place, said);
      return { value: said, afterMs: 3 };
    });
    yield { type: 'text', text: String(text) };
    yield { type: 'finish', usage: { inputTokens: 3, outputTokens: 2 } };
  }

  /** What truly became of an intention, for a person who looks it up; `undefined`: it did not happen. */
  truth(key: string): string | undefined {
    return this.#receipts.get(key)?.result;
  }

  /** The same of a call that may have been made under another key. */
  truthOf(place: string, tool: string): string | undefined {
    if ((this.carried.get(place) ?? 0) <= (this.undone.get(place) ?? 0)) return undefined;
    const keys = [...(this.keys.get(`${place} by ${tool}`) ?? [])];
    return keys.map((key) => this.truth(key)).findLast((result) => result !== undefined);
  }

  /** A request that is about to leave, from a process that may be frozen. Whoever looks up what became of it waits for it. */
  holds(place: string): () => void {
    raise(this.#onTheWay, place);
    let isHeld = true;
    return () => {
      if (isHeld) this.#onTheWay.set(place, (this.#onTheWay.get(place) ?? 1) - 1);
      isHeld = false;
    };
  }

  isOnTheWay(place: string): boolean {
    return (this.#onTheWay.get(place) ?? 0) > 0;
  }

  #carryOut(tool: ToolName, args: CallArgs, { effectKey: key, attempt, notAfterMs }: ToolCall): Reply {
    const { place, behaves, size } = args;
    const known = this.#receipts.get(key);
    if (tool === 'put' && known !== undefined) return { value: known.result, afterMs: 1 };
    const isTooLate = tool === 'wire' && this.#timeline.wallMs > notAfterMs;
    if (isTooLate) return { error: new Refusal('This attempt is over.'), afterMs: 1 };
    if ((this.#closed.get(key) ?? 0) >= attempt) return { error: new Refusal('This attempt was closed.'), afterMs: 1 };
    const count = this.#count(place);
    const behaviour = behaves[count] ?? 'ok';
    if (behaviour === 'refuse') return { error: new Refusal('Not now.'), afterMs: 1 };
    if (behaviour === 'refuse_for_good') return { error: new Refusal('Never.', { retry: false }), afterMs: 1 };
    if (behaviour === 'error') return { error: new Error('The network broke.'), afterMs: 1 };
    const result = `${tool} ${args.text} #${count}`.padEnd(size, '.');
    this.#result(place, result);
    if (tool !== 'look') {
      raise(this.carried, place);
      this.#receipts.set(key, { result, attempt });
    }
    if (behaviour === 'lost') return { error: new Error('The answer was lost.'), afterMs: 1 };
    return { value: result, afterMs: behaviour === 'slow' ? 2_500 : 2 };
  }

  /** A request travels, arrives whatever became of its sender, and its reply travels back. */
  #travel(what: string, place: string | undefined, arrive: () => Reply): Promise<unknown> {
    this.requests += 1;
    const wayMs =
      this.nextWayMs ?? (this.#dice.percent(8) ? this.#dice.between(100, slowestMs) : this.#dice.between(1, 9));
    this.nextWayMs = undefined;
    if (place !== undefined) raise(this.#onTheWay, place);
    return new Promise((resolve, reject) => {
      this.#timeline.after(wayMs, () => {
        if (place !== undefined) this.#onTheWay.set(place, (this.#onTheWay.get(place) ?? 1) - 1);
        const reply = arrive();
        this.#findings.trace(`arrives: ${what}, ${'error' in reply ? String(reply.error) : 'done'}`);
        this.#timeline.after(reply.afterMs, () => ('error' in reply ? reject(reply.error) : resolve(reply.value)));
      });
    });
  }

  #count(place: string): number {
    const count = this.#arrivals.get(place) ?? 0;
    this.#arrivals.set(place, count + 1);
    return count;
  }

  #close(key: string, attempt: number): void {
    this.#closed.set(key, Math.max(attempt, this.#closed.get(key) ?? 0));
  }

  #know(place: string, tool: ToolName | 'model', key: string): void {
    this.tools.set(place, tool);
    const intention = `${place} by ${tool}`;
    const keys = this.keys.get(intention) ?? new Set();
    this.keys.set(intention, keys.add(key));
  }

  #result(place: string, result: string): void {
    const results = this.results.get(place) ?? new Set();
    this.results.set(place, results.add(result));
  }
}

function raise(counts: Map<string, number>, place: string): void {
  counts.set(place, (counts.get(place) ?? 0) + 1);
}
