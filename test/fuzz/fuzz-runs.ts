/** Runs hostile input through every decoder and counts what came of it. */
import { type Corpus, type Exhibit, makeCorpus } from './corpus.ts';
import { Dice } from './dice.ts';
import { forgedBody, meansTheSame } from './forged.ts';
import { Protocol, tryReply } from './protocol.ts';
import { tryRow, tryWrap } from './rows.ts';
import type { Specimen } from './specimen.ts';
import { specimensOf } from './specimens.ts';
import { tamper } from './tampered.ts';
import { tryValue } from './values.ts';
import { judgeError, pollution, strangePrototype, type Verdict } from './verdict.ts';

/** A run that takes longer is reported. */
const slowMs = 200;
/** So many bytes of buffers that one run leaves behind are a crash: a length was believed. */
const mostBytes = 64 * 1024 * 1024;
const mostFindings = 40;

export interface DecoderFigures {
  runs: number;
  refused: number;
  read: number;
  crashes: number;
  silentlyAccepted: number;
}

export interface FuzzFigures {
  readonly seed: number;
  readonly runs: number;
  readonly crashes: number;
  readonly silentlyAccepted: number;
  readonly slow: number;
  readonly slowestMs: number;
  readonly decoders: Readonly<Record<string, DecoderFigures>>;
  /** The first ones, each with what reproduces it. */
  readonly findings: readonly string[];
}

export interface FuzzOptions {
  readonly runs: number;
  readonly seed: number;
  readonly signal?: AbortSignal;
  /** Hears of each run before it begins. */
  readonly onRun?: (run: number) => void;
  readonly report?: (line: string) => void;
  /** Ends with the first finding. */
  readonly stopAtFirst?: boolean;
}

type Attempt = (dice: Dice) => Promise<readonly [decoder: string, verdict: Verdict]>;

export async function fuzz({
  runs,
  seed,
  signal,
  onRun,
  report = () => undefined,
  stopAtFirst = false,
}: FuzzOptions): Promise<FuzzFigures> {
  const corpus = await makeCorpus();
  const fuzzer = await Fuzzer.on(corpus);
  const decoders: Record<string, DecoderFigures> = {};
  const findings: string[] = [];
  let [done, slow, slowestMs] = [0, 0, 0];
  for (let run = 0; run < runs && signal?.aborted !== true; run += 1) {
    onRun?.(run);
    const dice = new Dice(Math.imul(seed, 0x9e37_79b1) + run);
    const [beganMs, beganBytes] = [performance.now(), process.memoryUsage().arrayBuffers];
    const [decoder, first] = await fuzzer.attempt(dice);
    const verdict = judgeRun(first, process.memoryUsage().arrayBuffers - beganBytes);
    const tookMs = performance.now() - beganMs;
    done += 1;
    slowestMs = Math.max(slowestMs, tookMs);
    if (tookMs > slowMs) {
      slow += 1;
      report(`run ${run} of ${decoder} took ${tookMs.toFixed(0)} ms`);
    }
    count(decoders, decoder, verdict);
    if (verdict.is === 'crash' || verdict.is === 'accepted') {
      if (findings.length < mostFindings) findings.push(`run ${run}, ${decoder}: ${verdict.is}: ${verdict.message}`);
      if (stopAtFirst) break;
    }
    if (done % 10_000 === 0) report(`${done} runs …`);
  }
  const total = (field: 'crashes' | 'silentlyAccepted') =>
    Object.values(decoders).reduce((sum, figures) => sum + figures[field], 0);
  return {
    seed,
    runs: done,
    crashes: total('crashes'),
    silentlyAccepted: total('silentlyAccepted'),
    slow,
    slowestMs: Math.round(slowestMs),
    decoders,
    findings,
  };
}

function judgeRun(verdict: Verdict, bytes: number): Verdict {
  const polluted = pollution();
  if (polluted !== undefined) return { is: 'crash', message: polluted };
  return bytes > mostBytes ? { is: 'crash', message: `it took ${bytes} bytes of memory` } : verdict;
}

function count(decoders: Record<string, DecoderFigures>, decoder: string, { is }: Verdict): void {
  decoders[decoder] ??= { runs: 0, refused: 0, read: 0, crashes: 0, silentlyAccepted: 0 };
  const figures = decoders[decoder];
  figures.runs += 1;
  if (is === 'refused') figures.refused += 1;
  if (is === 'read') figures.read += 1;
  if (is === 'crash') figures.crashes += 1;
  if (is === 'accepted') figures.silentlyAccepted += 1;
}

class Fuzzer {
  readonly #corpus: Corpus;
  readonly #specimens: ReadonlyMap<Exhibit, readonly Specimen[]>;
  readonly #protocol = new Protocol();

  private constructor(corpus: Corpus, specimens: ReadonlyMap<Exhibit, readonly Specimen[]>) {
    this.#corpus = corpus;
    this.#specimens = specimens;
  }

  /** Every record opens before anything is done to it. */
  static async on(corpus: Corpus): Promise<Fuzzer> {
    const specimens = new Map<Exhibit, readonly Specimen[]>();
    for (const thread of corpus.threads) {
      const list = await specimensOf(corpus, thread);
      for (const each of list) await each.open(thread.codec);
      specimens.set(thread, list);
    }
    return new Fuzzer(corpus, specimens);
  }

  async attempt(dice: Dice): ReturnType<Attempt> {
    try {
      return await dice.pick(this.#attempts)(dice);
    } finally {
      this.#corpus.store.restore();
    }
  }

  readonly #attempts: readonly Attempt[] = [
    (dice) => this.#tampered(dice),
    (dice) => this.#tampered(dice),
    (dice) => this.#tampered(dice),
    (dice) => this.#forged(dice),
    (dice) => this.#forged(dice),
    (dice) => this.#forged(dice),
    async (dice) => ['value', await tryValue(dice, dice.pick(this.#corpus.threads))],
    async (dice) => ['value', await tryValue(dice, dice.pick(this.#corpus.threads))],
    async (dice) => ['row', await tryRow(dice, this.#corpus, dice.pick(this.#corpus.threads))],
    async (dice) => ['key ring', await tryWrap(dice, this.#corpus, dice.pick(this.#corpus.threads))],
    async (dice) => ['message', await this.#protocol.tryMessage(dice)],
    async (dice) => ['reply', tryReply(dice)],
  ];

  async #tampered(dice: Dice): ReturnType<Attempt> {
    const { thread, specimen, record, other } = await this.#choose(dice);
    const done = await tamper({
      corpus: this.#corpus,
      thread,
      specimen,
      record,
      other: other.record,
      isOfSameThread: other.thread === thread,
      dice,
    });
    const name = `${specimen.decoder}, tampered`;
    if (done === undefined) return [name, { is: 'read' }];
    this.#corpus.store.put(specimen.table, thread.hash, record.key, done.record);
    try {
      await specimen.open(thread.codec);
    } catch (error) {
      return [name, judgeError(error)];
    }
    return [
      name,
      { is: 'accepted', message: `changed (${done.what}) and read all the same: ${specimen.table}/${record.key}` },
    ];
  }

  async #forged(dice: Dice): ReturnType<Attempt> {
    const { store } = this.#corpus;
    const { thread, specimen, record, other } = await this.#choose(dice);
    const name = `${specimen.decoder}, forged`;
    const opened = await other.thread.codec.openRecord(other.specimen.table, { ...other.record, key: other.key });
    const forged = await forgedBody(dice, thread, specimen, record, opened.plaintext);
    store.put(specimen.table, thread.hash, record.key, forged);
    try {
      const read = await specimen.open(thread.codec);
      const strange = strangePrototype(read);
      if (strange !== undefined) return [name, { is: 'crash', message: strange }];
      const reason = await meansTheSame(store, thread, specimen, forged, read);
      return [name, reason === undefined ? { is: 'read' } : { is: 'accepted', message: reason }];
    } catch (error) {
      return [name, judgeError(error)];
    }
  }

  async #choose(dice: Dice) {
    const one = await this.#chooseOne(dice);
    let other = await this.#chooseOne(dice);
    while (other.record.body === one.record.body) other = await this.#chooseOne(dice);
    return { ...one, other };
  }

  async #chooseOne(dice: Dice) {
    const thread = dice.pick(this.#corpus.threads);
    const specimens = this.#specimens.get(thread) ?? [];
    // Blobs are many and all the same: the other decoders get their turn.
    const specimen = dice.pick(dice.chance(0.85) ? specimens.filter(({ decoder }) => decoder !== 'blob') : specimens);
    const record = await this.#corpus.store.get(specimen.table, thread.hash, specimen.key);
    if (record === undefined) throw new Error(`${specimen.table}/${specimen.key} is not in the corpus.`);
    const key = specimen.table === 'inbox' ? String(record.plain.dedupId) : record.key;
    return { thread, specimen, record, key };
  }
}
