/**
 * What is done about a step that failed for good (B6, B8): the rules of the agent's policy in turn, each decision with its
 * commit. A step that goes on gets a new id where its calls are to be made again, which never crosses an effect of class
 * `once` (PROTOCOL 4).
 */
import { errorFromData } from '../base/errors.ts';
import { sentence } from '../base/text.ts';
import { readAnswer } from '../codec/wait-codec.ts';
import type { ScheduledStep } from '../model/checkpoint.ts';
import type { RecordWrite } from '../model/commit.ts';
import type { ThreadEvent } from '../model/event.ts';
import type { Fields, UpdateOf } from '../model/fields.ts';
import type { StepId } from '../model/ids.ts';
import { parentOf } from '../model/lines.ts';
import { withOffers, withoutChoices } from '../model/past-entries.ts';
import type { Wait } from '../model/wait.ts';
import { defaultPolicy, fits, isForCall, type PolicyRule, timesOf } from '../program/policy.ts';
import { nextNode, scopeOf } from './agent-nodes.ts';
import type { Boundary } from './boundary.ts';
import { isCallOf, mustNotRepeat } from './calls-between.ts';
import { controlOf, positionOf } from './control-of.ts';
import { type Decision, decisionDetails, decisionKey, decisionsAfter } from './decision.ts';
import { changeOf, type EndedStep, lineOf, usedAfter } from './ended-step.ts';
import { failureOf } from './failure.ts';
import { stepIdFor } from './identity.ts';
import { type Asked, LineDraft } from './line-draft.ts';
import { policyReplies } from './policy-replies.ts';
import { policyWait } from './policy-wait.ts';
import type { StepBoundaries } from './step-boundaries.ts';
import { isCall, settles } from './step-ledger.ts';
import type { StepRun } from './step-run.ts';
import { ledgerHere, ledgerStays } from './step-trace.ts';
import { ThreadState } from './thread-state.ts';
import { checkpointBefore, isRepairOutstanding, returnTo } from './time-travel-policy.ts';
import type { WaitBoundaries } from './wait-boundaries.ts';

export interface StepPolicyParts {
  readonly boundary: Boundary;
  readonly steps: StepBoundaries;
  readonly waits: WaitBoundaries;
}

/** What a person said about a step that had failed by the error. */
export interface Verdict {
  readonly say: 'retry' | 'skip' | 'stop';
  readonly error: Error;
}

interface Again {
  readonly hint?: string;
  readonly waits?: readonly Wait[];
  readonly records?: readonly RecordWrite[];
  /** Numbers of the entries whose results the same calls of the new step are given. */
  readonly given?: readonly number[];
}

export class StepPolicy {
  readonly #parts: StepPolicyParts;

  constructor(parts: StepPolicyParts) {
    this.#parts = parts;
  }

  /** The state after what the first fitting rule did; `undefined` where none fits: then the step has failed. */
  async afterFailure(ended: EndedStep, cause: unknown): Promise<ThreadState | undefined> {
    const { agent } = this.#parts.boundary.parts.options;
    const failure = failureOf(cause, ended.node.name);
    for (const [index, rule] of (agent.policy ?? defaultPolicy).entries()) {
      const taken = this.#parts.boundary.control.decisions[decisionKey(index, failure.node)] ?? 0;
      if (isForCall(rule) || !fits(rule, failure) || taken >= timesOf(rule)) continue;
      const decision: Decision = { rule: index, action: rule.action, failure };
      if (rule.action === 'stop') return undefined;
      const after = await this.#carryOut(rule, decision, ended, taken);
      if (after !== undefined) return after;
    }
    return undefined;
  }

  /** What a person said about the step that this line stands at; `undefined` where nobody was asked, or has not answered. */
  async verdict({ wait, error }: Asked): Promise<Verdict | undefined> {
    const answer = (await readAnswer(this.#parts.boundary.parts.writer.codec, wait))?.answer;
    if (answer === undefined) return undefined;
    const said = answer.decision === 'reply' ? answer.value : 'stop';
    return { say: said === 'retry' || said === 'skip' ? said : 'stop', error: errorFromData(error) };
  }

  /**
   * Once more, as a person said: with its calls made again, or, where one of them must not be, with all of them given what they came
   * to, but for those that failed. `undefined` where one that must not be made again has no end on record yet.
   */
  async retry(ended: EndedStep): Promise<ThreadState | undefined> {
    const { entries } = ended.run.ledger;
    if (!entries.some(mustNotRepeat)) return this.#again(ended, undefined, {});
    const known = entries.filter((entry) => isCall(entry) && settles(entry) && entry.outcome?.status !== 'failed');
    const isOpen = entries.some((entry) => {
      return mustNotRepeat(entry) && known.every(({ intent }) => intent.key !== entry.intent.key);
    });
    return isOpen ? undefined : this.#again(ended, undefined, { given: known.map(({ intent }) => intent.number) });
  }

  /** On along the edge of its node, as a person said; `undefined` where none leads on. */
  async skip(ended: EndedStep): Promise<ThreadState | undefined> {
    return this.#goOn(ended, {}, undefined);
  }

  /** On with this update in place of the node's; `undefined` where it does not fit the state, or no edge leads on. */
  async #goOn(
    ended: EndedStep,
    update: UpdateOf<Fields>,
    decision: Decision | undefined,
  ): Promise<ThreadState | undefined> {
    const { boundary, steps } = this.#parts;
    const { node, run, state } = ended;
    const { path } = run.scheduled;
    const scope = path === '' ? '' : scopeOf(boundary.lines.forks.get(parentOf(path).path)?.node ?? '');
    const result = { type: 'update', update } as const;
    try {
      nextNode(boundary.parts.options.agent, node.name, result, state.with([update]).values, scope);
    } catch {
      return undefined; // what the step itself failed by is told, not what is wrong with the rule
    }
    return steps.end(ended, result, decision);
  }

  /** `undefined`: it cannot be done here, and the next rule is tried. */
  async #carryOut(
    rule: PolicyRule,
    decision: Decision,
    ended: EndedStep,
    taken: number,
  ): Promise<ThreadState | undefined> {
    switch (rule.action) {
      case 'retry':
        return this.#again(ended, decision, {});
      case 'go_back':
        return this.#goBack(rule, ended, decision);
      case 'wait_network':
        return this.#waitForNetwork(ended, decision, taken);
      case 'default':
        return this.#goOn(ended, rule.update as UpdateOf<Fields>, decision);
      case 'skip':
        return this.#goOn(ended, {}, decision);
      case 'ask':
        return this.#ask(ended, decision, taken);
      default:
        return undefined;
    }
  }

  /** Where this step itself made such a call, going back to before it is beginning the step anew. */
  async #goBack(
    { before, hint }: Extract<PolicyRule, { action: 'go_back' }>,
    ended: EndedStep,
    decision: Decision,
  ): Promise<ThreadState | undefined> {
    const { boundary } = this.#parts;
    const { run } = ended;
    if (run.ledger.entries.some((entry) => isCallOf(entry, before))) return this.#again(ended, decision, { hint });
    if (boundary.lines.forks.size > 0 || run.ledger.entries.some(mustNotRepeat)) return undefined;
    const { writer, options, ports } = boundary.parts;
    const target = await checkpointBefore(writer.codec, boundary.image, before, run.ledger);
    const [scheduled] = target?.checkpoint.position.next ?? [];
    if (target === undefined || scheduled === undefined) return undefined;
    const after = await boundary.commitClosing(
      (image) => controlOf(image, 0).waits,
      async (image) => {
        const control = controlOf(image, 0);
        const { onto, past } = returnTo(image, withoutChoices(control.past, run.ledger.reused), target, ports.random);
        const { lineage, step } = await this.#salted(scheduled);
        const draft = new LineDraft(boundary.lines);
        draft.putHint('', hint);
        return {
          left: run.scheduled.step,
          cause: 'policy',
          position: { ...target.checkpoint.position, next: [{ ...scheduled, step }] },
          control: {
            lineage,
            past,
            ...usedAfter(control, run.tally),
            ledger: ledgerHere(image),
            waits: [],
            stepFromMs: boundary.elapsedMs(),
            decisions: decisionsAfter(control, [...run.decisions, decision]),
          },
          onto,
          change: { set: draft.set, append: new Map(), remove: [] },
          events: this.#events(run, decision, { hint, to: target.checkpoint.id }),
          heavy: true,
        };
      },
      'free',
    );
    return ThreadState.read(writer.codec, options.agent, after.state, boundary.parts.stopped);
  }

  /** Runs the step once more under a new id, so that its calls are made again; `undefined` where one must not be. */
  async #again(
    ended: EndedStep,
    decision: Decision | undefined,
    { hint, waits = [], records = [], given }: Again,
  ): Promise<ThreadState | undefined> {
    const { boundary } = this.#parts;
    const { run, main } = ended;
    const { path, node } = run.scheduled;
    if (given === undefined && run.ledger.entries.some(mustNotRepeat)) return undefined;
    if (await isRepairOutstanding(boundary.parts.writer.codec, boundary.image, run.ledger)) return undefined;
    const ids = waits.map(({ id }) => id);
    const entries = run.ledger.entries.map(({ intent }) => intent.number).sort((a, b) => a - b);
    const mine = boundary.lines.lines.get(path)?.waits ?? boundary.control.waits;
    await boundary.commitClosing(
      () => mine,
      async (image) => {
        const draft = new LineDraft(boundary.lines);
        const before = controlOf(image, 0);
        const { lineage, step } = await this.#salted(run.scheduled);
        draft.clearStep(path);
        if (hint !== undefined) draft.putHint(path, hint);
        const here = { from: image.row.ledger, sinceMs: boundary.elapsedMs() };
        if (path !== '') draft.putLine({ ...lineOf(draft, path), ...here, step, waits: ids });
        return {
          left: run.scheduled.step,
          cause: waits.length > 0 ? 'wait' : 'policy',
          position: path === '' ? { ...positionOf(image), next: [{ node, step, path }] } : positionOf(image),
          control: {
            lineage,
            ...usedAfter(before, run.tally),
            ledger: path === '' ? ledgerHere(image) : ledgerStays(image, before),
            waits: [...before.waits.filter((id) => !mine.includes(id)), ...ids],
            ...(given && { past: withOffers(before.past, { entries, given, used: run.ledger.reused }) }),
            ...(waits.length > 0 && path === '' && { status: 'waiting' }),
            ...(decision && { decisions: decisionsAfter(before, [...run.decisions, decision]) }),
          },
          change: changeOf(image, { set: new Map(), append: new Map() }, draft),
          lines: draft.lines,
          events: decision === undefined ? [] : this.#events(run, decision, hint === undefined ? {} : { hint }),
          records,
          wakeUpAtMs: image.row.wakeUpAtMs,
          heavy: waits.length > 0,
        };
      },
      'free',
    );
    this.#parts.waits.opened(waits);
    return main;
  }

  async #waitForNetwork(ended: EndedStep, decision: Decision, taken: number): Promise<ThreadState | undefined> {
    const { network } = this.#parts.boundary.parts.ports;
    const asked = { kind: 'network', reason: 'until the network is there', args: null } as const;
    const { wait, records } = await policyWait(ended.run, `policy.network.${taken}`, asked);
    // One that is known was waited for before a repair, however the network is now.
    if (records.length > 0 && (network === undefined || network.isOnline())) return undefined;
    return this.#again(ended, decision, { waits: [wait], records });
  }

  async #ask(ended: EndedStep, decision: Decision, taken: number): Promise<ThreadState> {
    const { node, run, main } = ended;
    const { error } = decision.failure;
    const reason = `Step "${node.name}" failed: ${sentence(error.message)} What now: "retry", "skip" or "stop"?`;
    const args = {
      node: node.name,
      code: error.code ?? null,
      message: error.message,
      replies: policyReplies,
    };
    const { wait, records } = await policyWait(ended.run, `policy.ask.${decision.rule}.${taken}`, {
      kind: 'question',
      reason,
      args,
    });
    await this.#parts.waits.open(node.name, run.scheduled.path, [wait], records, (draft, before) => {
      draft.putAsked(run.scheduled.path, { wait: wait.id, error: error });
      return {
        control: { decisions: decisionsAfter(before, [...run.decisions, decision]), ...usedAfter(before, run.tally) },
        events: this.#events(run, decision, {}),
      };
    });
    return main;
  }

  /** Of what was decided about the calls of the step, and about the step. */
  #events(run: StepRun, decision: Decision, more: ThreadEvent['details']): readonly ThreadEvent[] {
    const { boundary } = this.#parts;
    return [
      ...run.decisions.map((made) => boundary.event('policy', decisionDetails(made))),
      boundary.event('policy', { ...decisionDetails(decision), ...more }),
    ];
  }

  /** The same where the step that is left runs again after a repair: what came behind it is found on record. */
  async #salted(scheduled: ScheduledStep): Promise<{ lineage: string; step: StepId }> {
    const { boundary } = this.#parts;
    const { codec } = boundary.parts.writer;
    const { step: predecessor, node, path } = scheduled;
    const before = boundary.control;
    const lineage = await codec.sealer.hash('salt', before.lineage, scheduled.step);
    return { lineage, step: await stepIdFor(codec, { lineage, predecessor, node, path, input: before.run.input }) };
  }
}
