/** Deliberate faults in the engine, the codec and the rules of the store: each is one that the simulator must find. */
export interface PlantedFault {
  readonly name: string;
  /** Under src/. */
  readonly file: string;
  /** Stands exactly once in the file. */
  readonly find: string;
  readonly replace: string;
}

const fault = (name: string, file: string, find: string, replace: string): PlantedFault => ({ name, file, find, replace });

export const plantedFaults: readonly PlantedFault[] = [
  fault('the epoch is not checked', 'store/apply-group.ts', 'if (row.epoch.home === condition.is.home && row.epoch.local === condition.is.local) return undefined;', 'return undefined;'),
  fault('the lease does not raise the epoch', 'store/thread-rules.ts', 'local: row.epoch.local + 1 }, resumes', 'local: row.epoch.local }, resumes'),
  fault('the count of resumes does not grow', 'store/thread-rules.ts', 'resumes: row.resumes + 1 };', 'resumes: row.resumes };'),
  fault('a commit is not looked up by its id', 'store/apply-group.ts', 'sight.find({ table: witness.table, thread: group.thread, key: witness.key })?.commit === group.id;', 'false as boolean;'),
  fault('inbox ids are not remembered', 'store/apply-group.ts', 'const place = group.inbox === undefined ? undefined : sight.find(dedupAddress(group.thread, group.inbox.dedupId));', 'const place = undefined as ReturnType<typeof sight.find>;'),
  fault('the call goes out before its intent', 'engine/effect.ts', "  const entry = await recordIntent(run, effect, args, number);", "  void request.run(args, { effectKey: effect.key, attempt: number, abortSignal: run.signal, notAfterMs: 0 }).catch(() => undefined);\n  const entry = await recordIntent(run, effect, args, number);"),
  fault('the step goes on before the result is recorded', 'engine/ledger-writes.ts', "  const result = await writeEvidence(run, entry, [await sealOutcome(codec, number, outcome), ...blobs.writes()]);", "  const result = { status: 'applied' as string };\n  void writeEvidence(run, entry, [await sealOutcome(codec, number, outcome), ...blobs.writes()]).catch(() => undefined);"),
  fault('an effect in doubt is called again', 'engine/effect.ts', "    if (isOpen && effect.request.effectClass === 'once') {", "    if (isOpen && effect.request.effectClass !== 'once') {"),
  fault('recorded results are not given back', 'engine/effect.ts', "  const known = await settledResult(run, effect);\n  if (known !== undefined) return known.value;\n  // Asked", "  // Asked"),
  fault('recorded values of clock and chance are forgotten', 'engine/step-ledger.ts', 'this.inputs = new Map(entries.flatMap(({ intent }) => intent.inputs));', 'this.inputs = new Map();'),
  fault('the effect key changes with the lease', 'engine/effect.ts', 'const key = await effectKeyFor(codec, run.scheduled.step, request.place);', 'const key = await effectKeyFor(codec, run.scheduled.step, `${request.place}/${run.writer.image.row.epoch.local}`);'),
  fault('failed attempts of earlier leases are not counted', 'engine/effect.ts', 'return run.ledger.historyOf(key).filter(hasFailed).length;', 'return run.ledger.historyOf(key).filter((entry) => hasFailed(entry) && entry.intent.epoch === run.writer.image.row.epoch.local).length;'),
  fault('failed attempts of a node are not counted over restarts', 'engine/thread-runner.ts', 'const attempt = run.ledger.nodeFailures.length + 1;', 'const attempt = 1;'),
  fault('verify is believed while the call may still arrive', 'engine/resolution.ts', "verdict.verdict !== 'not_done' || verdict.closed === true || askedAtMs > overAtMs", "verdict.verdict !== 'not_done' || askedAtMs > 0"),
  fault('a call starts however late', 'engine/effect.ts', 'if (lateMs > 0 || run.signal.aborted || run.isSuspended()) {', 'if (run.signal.aborted || run.isSuspended()) {'),
  fault('the digest of the ledger does not go on', 'codec/commit-builder.ts', 'const control: RowControl = { ...before.control, ledgerDigest: digest };', 'const control: RowControl = { ...before.control };'),
  fault('a delta names itself as its base', 'codec/commit-builder.ts', 'base: isSnapshot ? plan.id : state.checkpoint.base,', 'base: plan.id,'),
  fault('items of a log are written twice', 'codec/commit-builder.ts', 'for (const [name, items] of change.append) {', 'for (const [name, added] of change.append) {\n    const items = [...added, ...added];'),
  fault('a delta leaves a changed field out', 'codec/commit-builder.ts', 'fields: isSnapshot ? fields : changed,', "fields: isSnapshot ? fields : new Map([...changed].filter(([name]) => name !== 'total')),"),
  fault('an input is passed over', 'engine/boundaries.ts', "        inboxTaken: order,\n        ledger: ledgerHere(image),\n        waits: [],\n        failure: null,", "        inboxTaken: image.row.inbox,\n        ledger: ledgerHere(image),\n        waits: [],\n        failure: null,"),
  fault('a cancel names nobody whom it dropped', 'engine/boundaries.ts', "...dropped.map(({ order }) => this.#event('input_dropped', { order, winner: cancel.order })),", ''),
  fault('an answer may be written over', 'codec/wait-codec.ts', "return codec.sealRecord('waits', answerKey(wait.id), body);", "return codec.sealRecord('waits', answerKey(wait.id), body, { mode: 'replace' });"),
  fault('intents are written relaxed', 'engine/ledger-writes.ts', "(number) => intentOf(run, effect, stored, attempt, number), {\n    durability: 'strict',\n    blobs,\n  });\n  return remember", "(number) => intentOf(run, effect, stored, attempt, number), {\n    durability: 'relaxed',\n    blobs,\n  });\n  return remember"),
  fault('a lost record counts as never called', 'engine/resolution.ts', '  if (lost.length === 0 ||', '  if (lost.length >= 0 ||'),
  fault('a late answer settles beside the one that was given', 'engine/ledger-writes.ts', "  if (settles({ outcome })) await closeOlder(run, entry);\n", ''),
  fault('a wait is shown before it is stored', 'engine/boundaries.ts', '    await this.#commit((image) => ({\n      cause: \'wait\',', "    for (const wait of waits) this.#emit({ type: 'wait', wait });\n    await this.#commit((image) => ({\n      cause: 'wait',"),
];
