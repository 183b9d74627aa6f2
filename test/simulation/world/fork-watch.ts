/** The watch of a fork: a thread that is there at once, with a state and with results that it was not the first to have. */
import type { CommitGroup } from '../../../src/model/commit.ts';
import type { ThreadHash } from '../../../src/model/ids.ts';
import type { ThreadRow } from '../../../src/model/records.ts';
import type { MemoryData } from '../../../src/stores/memory/memory-data.ts';
import type { Findings } from './findings.ts';
import { seeCheckpoint } from './peek.ts';
import { type Applied, Watch } from './watch.ts';

export class ForkWatch extends Watch {
  override readonly marks: string;
  override readonly carried: number;
  readonly thread: ThreadHash;
  /** The checkpoint that it begins with. */
  readonly first: string;
  /** The checkpoint of its source that it was made from. */
  readonly from: string;
  isPurged = false;
  readonly #findings: Findings;

  /**
   * @param made its row in the moment in which it was made.
   * @param source the thread that it was made of.
   * @param number of the fork: another one of the same id, made after this one was deleted, has another.
   */
  constructor(findings: Findings, data: MemoryData, made: ThreadRow, source: ThreadHash | undefined, number: number) {
    const { thread, incarnation, head, ledger } = made;
    const ownRow = () => {
      const row = data.threads.get(thread);
      return row?.incarnation === incarnation ? row : undefined;
    };
    super(findings, data, ownRow, () => {
      this.isPurged = true;
    });
    this.#findings = findings;
    this.thread = thread;
    this.carried = ledger;
    this.marks = `f${number}:`;
    this.first = head ?? '';
    const pins = source === undefined ? [] : data.records('checkpoints', source).range({});
    this.from = pins.findLast(({ key }) => key.endsWith(`.pin.${thread}`))?.key.split('.')[0] ?? '';
    if (this.from === '') findings.violate('a-fork-is-pinned', 'A fork was made, and no pin names it (PROTOCOL 4).');
    this.rescan();
    const first = data.records('checkpoints', thread).get(this.first);
    if (first === undefined) findings.violate('lineage-is-whole', 'A fork was made without its first checkpoint.');
    else this.seen.set(this.first, seeCheckpoint(first));
  }

  /** What it took along are calls of its source. */
  override knows(key: string): boolean {
    return [...this.intents.values()].some((intent) => intent.key === key && intent.number > this.carried);
  }

  override applied(applied: Applied): void {
    this.#leavesOthersAlone(applied.group);
    super.applied(applied);
  }

  #leavesOthersAlone({ also, id }: CommitGroup): void {
    if (also === undefined) return;
    this.#findings.violate('a-fork-leaves-its-source-alone', `Commit ${id} of a fork writes to another thread too.`);
  }
}
