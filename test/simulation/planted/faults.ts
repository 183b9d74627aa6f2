/** Deliberate faults in the engine, the codec and the rules of the store: each is one that the simulator must find. */
export interface PlantedFault {
  readonly name: string;
  /** Under src/. */
  readonly file: string;
  /** Stands exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** The scenario in which it is looked for first. */
  readonly begin: string;
}

const fault = (name: string, begin: string, file: string, find: string, replace: string): PlantedFault => ({
  name,
  begin,
  file,
  find,
  replace,
});

export const plantedFaults: readonly PlantedFault[] = [
  fault(
    'the epoch is not checked',
    'two runners at once',
    'store/apply-group.ts',
    'if (row.epoch.home === condition.is.home && row.epoch.local === condition.is.local) return undefined;',
    'return undefined;',
  ),
  fault(
    'the lease does not raise the epoch',
    'a read, and a step after it',
    'store/thread-rules.ts',
    'local: row.epoch.local + 1 }, resumes',
    'local: row.epoch.local }, resumes',
  ),
  fault(
    'the count of resumes does not grow',
    'poison',
    'store/thread-rules.ts',
    'resumes: row.resumes + 1 };',
    'resumes: row.resumes };',
  ),
  fault(
    'a commit is not looked up by its id',
    'commits whose answer is lost',
    'store/apply-group.ts',
    'sight.find({ table: witness.table, thread: group.thread, key: witness.key })?.commit === group.id;',
    'false as boolean;',
  ),
  fault(
    'inbox ids are not remembered',
    'an input that is sent twice, and another behind it',
    'store/apply-group.ts',
    'const place = group.inbox === undefined ? undefined : sight.find(dedupAddress(group.thread, group.inbox.dedupId));',
    'const place = undefined as ReturnType<typeof sight.find>;',
  ),
  fault(
    'the call goes out before its intent',
    'an idempotent call whose answer is lost',
    'engine/effect.ts',
    '  const entry = await recordIntent(run, effect, args, number);',
    '  void request.run(args, { effectKey: effect.key, attempt: number, abortSignal: run.signal, notAfterMs: 0 }).catch(() => undefined);\n  const entry = await recordIntent(run, effect, args, number);',
  ),
  fault(
    'the step goes on before the result is recorded',
    'a disk that is full for results',
    'engine/ledger-writes.ts',
    '  const result = await writeEvidence(run, entry, [await sealOutcome(codec, number, outcome), ...blobs.writes()]);',
    "  const result = { status: 'applied' as string };\n  void writeEvidence(run, entry, [await sealOutcome(codec, number, outcome), ...blobs.writes()]).catch(() => undefined);",
  ),
  fault(
    'an effect in doubt is called again',
    'a payment that can be verified and closed',
    'engine/effect.ts',
    "    if (isOpen && effect.request.effectClass === 'once') {",
    "    if (isOpen && effect.request.effectClass !== 'once') {",
  ),
  fault(
    'recorded results are not given back',
    'a payment that can be verified and closed',
    'engine/step-ledger.ts',
    'own.filter(({ intent }) => intent.step === step),',
    '[],',
  ),
  fault(
    'recorded values of clock and chance are forgotten',
    'clock and chance in calls of three steps',
    'engine/step-ledger.ts',
    'this.inputs = new Map(entries.flatMap(({ intent }) => intent.inputs));',
    'this.inputs = new Map();',
  ),
  fault(
    'the effect key changes with the lease',
    'a payment that can be verified and closed',
    'engine/effect.ts',
    'const key = await effectKeyFor(codec, run.scheduled.step, request.place);',
    'const key = await effectKeyFor(codec, run.scheduled.step, request.place + String(run.writer.image.row.epoch.local));',
  ),
  fault(
    'failed attempts of earlier leases are not counted',
    'a model that never ends',
    'engine/effect.ts',
    'return run.ledger.historyOf(key).filter(hasFailed).length;',
    'return run.ledger.historyOf(key).filter((entry) => hasFailed(entry) && entry.intent.epoch === run.writer.image.row.epoch.local).length;',
  ),
  fault(
    'failed attempts of a node are not counted over restarts',
    'a node that always breaks, and an input behind it',
    'engine/thread-runner.ts',
    'const attempt = run.ledger.nodeFailures.length + 1;',
    'const attempt = 1;',
  ),
  fault(
    'verify is believed while the call may still arrive',
    'a runner that is frozen for a moment',
    'engine/resolution.ts',
    "verdict.verdict !== 'not_done' || verdict.closed === true || askedAtMs > overAtMs",
    "verdict.verdict !== 'not_done' || askedAtMs > 0",
  ),
  fault(
    'a call starts however late',
    'a runner that is frozen before its call',
    'engine/effect.ts',
    'if (lateMs > 0 || run',
    'if (run',
  ),
  fault(
    'the digest of the ledger does not go on',
    'a read, and a step after it',
    'codec/commit-builder.ts',
    'const control: RowControl = { ...before.control, ledgerDigest: digest };',
    'const control: RowControl = { ...before.control };',
  ),
  fault(
    'a delta names itself as its base',
    'clock and chance in calls of three steps',
    'codec/commit-builder.ts',
    'base: isSnapshot ? plan.id : state.checkpoint.base,',
    'base: plan.id,',
  ),
  fault(
    'items of a log are written twice',
    'a read, and a step after it',
    'codec/commit-builder.ts',
    'for (const [name, items] of change.append) {',
    'for (const [name, added] of change.append) {\n    const items = [...added, ...added];',
  ),
  fault(
    'a delta leaves a changed field out',
    'an edge that reads the state',
    'codec/commit-builder.ts',
    'fields: isSnapshot ? fields : changed,',
    "fields: isSnapshot ? fields : new Map([...changed].filter(([name]) => name !== 'total')),",
  ),
  fault(
    'an input is passed over',
    'an input that is sent twice, and another behind it',
    'engine/boundaries.ts',
    '        inboxTaken: order,\n        ledger: ledgerHere(image),\n        waits: [],\n        failure: null,',
    '        inboxTaken: image.row.inbox,\n        ledger: ledgerHere(image),\n        waits: [],\n        failure: null,',
  ),
  fault(
    'a cancel names nobody whom it dropped',
    'a cancel in the middle',
    'engine/boundaries.ts',
    "...dropped.map(({ order }) => this.#event('input_dropped', { order, winner: cancel.order })),",
    '',
  ),
  fault(
    'an answer may be written over',
    'an answer that overtakes a cancel',
    'codec/wait-codec.ts',
    "return codec.sealRecord('waits', answerKey(wait.id), body);",
    "return codec.sealRecord('waits', answerKey(wait.id), body, { mode: 'replace' });",
  ),
  fault(
    'intents are written relaxed',
    'an idempotent call whose answer is lost',
    'engine/ledger-writes.ts',
    "(number) => intentOf(run, effect, stored, attempt, number), {\n    durability: 'strict',\n    blobs,\n  });\n  return remember",
    "(number) => intentOf(run, effect, stored, attempt, number), {\n    durability: 'relaxed',\n    blobs,\n  });\n  return remember",
  ),
  fault(
    'a lost record counts as never called',
    'a record that is lost with its process',
    'engine/resolution.ts',
    '  if (lost.length === 0 ||',
    '  if (lost.length >= 0 ||',
  ),
  fault(
    'a late answer settles beside the one that was given',
    'two answers to one question',
    'engine/ledger-writes.ts',
    '  if (settles({ outcome })) await closeOlder(run, entry);\n',
    '',
  ),
  fault(
    'a wait is shown before it is stored',
    'an approval that is given',
    'engine/boundaries.ts',
    "    await this.#commit((image) => ({\n      cause: 'wait',",
    "    for (const wait of waits) this.#emit({ type: 'wait', wait });\n    await this.#commit((image) => ({\n      cause: 'wait',",
  ),
  fault(
    'an empty store must stay empty while it is opened',
    'two processes that start at once',
    'codec/key-ring.ts',
    '    if (isMadeMeanwhile) return;\n',
    '    void isMadeMeanwhile;\n',
  ),
  fault(
    'what a call answers counts although it is being undone',
    'a booking that answers while it is undone',
    'engine/resolution.ts',
    '  if (!effect.request.compensate || effect.request.verify) return undefined;',
    '  if (effect.key.length >= 0) return undefined;',
  ),
  fault(
    'refusals do not count where doubts do',
    'refusals and doubts together',
    'engine/resolution.ts',
    'const failed = run.ledger.historyOf(effect.key).filter(hasFailed).length;',
    'const failed = run.ledger.historyOf(effect.key).filter(({ doubt }) => doubt !== undefined).length;',
  ),
  fault(
    'a store that fails makes a result invalid',
    'a large result, and a store that cannot be read',
    'engine/ledger-writes.ts',
    "    if (!codecErrors.is(cause, 'value_not_storable')) throw cause; // the store's trouble is none of the result's\n    const problem = cause.message;",
    '    const problem = String(codecErrors.is(cause));',
  ),
  fault(
    'a node whose attempts are spent fails once more',
    'a node that always breaks, and an input behind it',
    'engine/thread-runner.ts',
    'if (isFinal(error) || run.ledger.nodeFailures.at(-1)?.outcome?.final === true) {',
    'if (isFinal(error)) {',
  ),
  fault(
    'a poisoned run leaves the inputs behind it',
    'poison',
    'engine/thread-runner.ts',
    "      await boundaries.fail(programErrors.make('resume_limit', { resumes: row.resumes - 1, node }), control);",
    "      await boundaries.fail(programErrors.make('resume_limit', { resumes: row.resumes - 1, node }), control);\n      return { end: 'failed' };",
  ),
  fault(
    'values of clock and chance are lost with the entry that could not be written',
    'values of clock and chance whose entry cannot be written',
    'engine/thread-writer.ts',
    '        options.giveBack?.(intent);\n',
    '',
  ),
];
