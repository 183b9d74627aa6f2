/**
 * What the thread must have come to: the same plan, run by the simplest means, with the answers that are on record in the
 * places where the record has them. It follows the lineage checkpoint by checkpoint, so that a step too many, too few or in
 * another order shows where it happened.
 */
import { HoldfastError } from '../../../src/base/errors.ts';
import type { ChildOutcome } from '../../../src/engine/children.ts';
import type { Wait } from '../../../src/model/wait.ts';
import type { PolicyTable } from '../../../src/program/policy.ts';
import { alongEdge } from '../plan/exits.ts';
import { addRounds, migrationAdds, type PlanUpdate, runNode } from '../plan/interpret.ts';
import type { Mood, PlanNode, PlanScope, PlanState, QuestionArgs } from '../plan/plan.ts';
import type { ClientAction } from '../world/client.ts';
import type { SeenCheckpoint } from '../world/peek.ts';
import { type Entry, type Evidence, undoneOf } from './evidence.ts';

export interface Reference {
  readonly state: Omit<PlanState, 'notes'> & { readonly notes: readonly string[] };
  readonly usage: number;
}

/** As the simulated model says. */
const tokensOfAnswer = 5;

/** Nothing in the record says what this call came to. */
class Gap extends Error {}

export const calm: Mood = { breaks: () => false, kill: async () => undefined };

export async function follow(evidence: Evidence, actions: readonly ClientAction[]): Promise<Reference | undefined> {
  const { world, plan, watch, lineage } = evidence;
  const inputs = new Map(
    actions.flatMap((action) => (action.does === 'send' ? [[action.input, action] as const] : [])),
  );
  const nodes = new Map(plan.nodes.map((node) => [node.name, node]));
  const all = answersOf(evidence);
  const disagree = (at: SeenCheckpoint, why: string): undefined =>
    world.findings.violate('state-follows-the-record', `At ${at.id} (${at.cause}): ${why}`) as undefined;

  let state: Reference['state'] = { input: '', rounds: {}, total: 0, last: '', big: '', notes: [] };
  let began = state;
  let [usage, steps] = [0, 0];
  let next: PlanNode | undefined;
  for (const at of lineage) {
    const answers = all(watch.checkpointAt.get(at.id) ?? Number.POSITIVE_INFINITY);
    if (at.cause === 'input') {
      const input = inputs.get(evidence.inbox.get(at.inboxOrder) ?? '');
      if (input === undefined) return disagree(at, `there is no input of order ${at.inboxOrder}.`);
      began = state;
      const { total, big } = input;
      state = changed(state, {
        input: input.input,
        ...(total !== undefined && { total }),
        ...(big !== undefined && { big }),
      });
      next = plan.nodes[0];
      steps = 0;
    } else if (at.cause === 'step') {
      if (next === undefined) return disagree(at, 'no step was due.');
      if (at.node !== next.name) return disagree(at, `"${at.node}" was run where "${next.name}" was due.`);
      const counted = { tokens: 0 };
      const ran = await run(next, state, answers, counted);
      if ('error' in ran) return disagree(at, `by the record, "${next.name}" ends with ${String(ran.error)}`);
      state = changed(state, ran.update);
      usage += counted.tokens;
      steps += 1;
      const { leave } = ran;
      const to = leave.type === 'goto' ? leave.node : leave.type === 'end' ? null : alongEdge(next.exit, state.total);
      next = to === null ? undefined : nodes.get(to);
      if (at.next !== to) return disagree(at, `it leads to ${at.next}; by the record it must lead to ${to}.`);
      if (at.steps !== steps) return disagree(at, `it counts ${at.steps} steps, not ${steps}.`);
    } else if (at.cause === 'failed') {
      const counted = { tokens: 0 };
      const problem = await wrongFailure(evidence, at, next, state, answers, steps, counted);
      if (problem !== undefined) return disagree(at, problem);
      usage += counted.tokens; // what a failed step used was paid for
      next = undefined;
    } else if (at.cause === 'cancelled') {
      const counted = { tokens: 0 };
      if (next !== undefined) await run(next, state, answers, counted);
      usage += counted.tokens; // of the step that was cut off, what is on record
      next = undefined;
    } else if (at.cause === 'rolled_back') {
      // The run that was taken back may be on no lineage: what it used is on record with its calls alone.
      if (at.usage >= usage && at.usage <= tokensOnRecord(evidence)) usage = at.usage;
      if (next !== undefined) state = began; // of the first run: there is no checkpoint to go back to
      next = undefined;
    } else if (at.cause === 'migrated') {
      state = changed(state, { total: migrationAdds });
    } else if (at.cause === 'repaired') {
      // The state of the ancestor that it goes on from: what came after it is run again, with what is on record.
    } else if (next === undefined) {
      return disagree(at, 'it waits, and no step was due.');
    }
    const visits = Object.entries(state.rounds).map(([node, count]) => `${node}:${count}`);
    const seen = [...at.visits].map(([node, count]) => `${node}:${count}`);
    if (visits.sort().join() !== seen.sort().join()) return disagree(at, `visits are ${seen}, not ${visits}.`);
    if (at.usage !== usage) return disagree(at, `it counts ${at.usage} tokens, not ${usage}.`);
  }
  return { state, usage };
}

/** The most that all calls which are on record can have used. */
function tokensOnRecord({ entries, waits }: Evidence): number {
  const models = entries.filter(({ intent }) => intent.kind === 'model').length * tokensOfAnswer;
  const children = waits.map(({ answer }) => {
    const { usage } = answer?.decision === 'ended' ? (answer.value as ChildOutcome) : {};
    return usage === undefined ? 0 : usage.inputTokens + usage.outputTokens;
  });
  return children.reduce((sum, tokens) => sum + tokens, models);
}

async function wrongFailure(
  { plan }: Evidence,
  at: SeenCheckpoint,
  next: PlanNode | undefined,
  state: Reference['state'],
  answers: Answers,
  steps: number,
  counted: { tokens: number },
): Promise<string | undefined> {
  const code = at.failureCode;
  if (code === 'resume_limit') return plan.maxResumes < 10 ? undefined : 'it was resumed too often.';
  if (next === undefined) return `a run failed with ${code} where none was under way.`;
  if (code === 'step_limit') return steps === plan.maxSteps ? undefined : `the step limit came after ${steps} steps.`;
  const ran = await run(next, state, answers, counted);
  if (!('error' in ran)) return `it failed with ${code}; by the record "${next.name}" ends well.`;
  const expected = ran.error instanceof HoldfastError ? ran.error.code : undefined;
  if (ran.error instanceof Gap) return String(ran.error);
  return code === expected ? undefined : `it failed with ${code}, by the record with ${String(ran.error)}`;
}

type Ran = Awaited<ReturnType<typeof runNode>> | { readonly error: unknown };

async function run(
  node: PlanNode,
  state: Reference['state'],
  answers: Answers,
  counted: { tokens: number },
): Promise<Ran> {
  const { notes } = state;
  const seen = { ...state, notes: { length: notes.length, tail: async (count: number) => notes.slice(-count) } };
  try {
    return await runNode(node, seen, scopeOf(answers, counted), calm);
  } catch (error) {
    return { error };
  }
}

export function scopeOf(answers: Answers, counted: { tokens: number }): PlanScope {
  const scope: PlanScope = {
    call: async (_, { place }) => answers.resultOf(place),
    async all(items, work) {
      const settled = await Promise.allSettled(items.map((item, index) => work(item, scope, index)));
      return settled.map((end) => {
        if (end.status === 'rejected') throw end.reason;
        return end.value;
      });
    },
    model: {
      async text(prompt) {
        const answer = answers.resultOf(prompt.split(' ')[0] ?? '') as { readonly text: string };
        counted.tokens += tokensOfAnswer;
        return answer.text;
      },
    },
    now: (place) => answers.readsOf(place)[0] ?? Number.NaN,
    random: (place) => answers.readsOf(place)[1] ?? Number.NaN,
    async ask(_, { show: { place } }) {
      const reply = answers.replyTo(place);
      if (reply === undefined) throw new Gap(`no answer to the question of ${place} is on record`);
      return reply;
    },
    waitFor: async (_event, _options, place) => answers.eventAt(place),
    sleep: async () => undefined,
    online: async () => undefined,
    async child(_, { input }) {
      const { status, state, usage } = answers.childOf(input);
      counted.tokens += usage.inputTokens + usage.outputTokens;
      return { status, state };
    },
  };
  return scope;
}

export interface Answers {
  resultOf(place: string): unknown;
  readsOf(place: string): readonly number[];
  /** @throws what the question failed with */
  replyTo(place: string): string | undefined;
  /** How the child ended that was started there. */
  childOf(place: string): ChildOutcome;
  /** What the node took for the event that it waited for. @throws what it failed with */
  eventAt(place: string): unknown;
}

/** The last answer to each question; one that was refused was asked for again. */
function repliesOf(waits: Evidence['waits']): ReadonlyMap<string, () => string> {
  const replies = new Map<string, () => string>();
  for (const { wait, answer } of waits) {
    const { place } = (wait.kind === 'question' ? wait.args : {}) as Partial<QuestionArgs>;
    if (place === undefined || answer === undefined) continue;
    const { decision } = answer;
    if (decision === 'deny') replies.set(place, () => raise('question_declined'));
    if (decision === 'expired') replies.set(place, () => raise('wait_expired'));
    const said = decision === 'reply' ? answer.value : undefined;
    if (typeof said === 'string' && said.startsWith('ok')) replies.set(place, () => said);
  }
  return replies;
}

/** Events carry no place. What a node took is in its note; another oracle sees to it that it was sent, and went to no other. */
function notedOf({ notes }: Evidence): (place: string) => unknown {
  return (place) => {
    const note = notes.find((each) => each.startsWith(`${place} `));
    if (note === undefined) throw new Gap(`no event for ${place} is on record`);
    const [, , ...rest] = note.split(' ');
    if (note.startsWith(`${place} !`)) raise(rest.join(' '));
    return rest.join(' ');
  };
}

function raise(code: string): never {
  throw failure(code);
}

const refusals: Readonly<Record<string, string>> = { deny: 'tool_denied', expired: 'approval_expired' };

/** The answers as they were on record after so many groups. A later one, of a runner that was frozen, was not seen by the step. */
export function answersOf(evidence: Evidence): (commits: number) => Answers {
  const { entries, waits, world, plan } = evidence;
  const settled = new Map<string, Evidence['entries'][number][]>();
  const reads = new Map<string, readonly number[]>();
  const refused = new Map<string, { readonly code: string; readonly key: string; readonly at: number }>();
  const undone = undoneOf(entries, world);
  for (const entry of entries) {
    if (entry.place === undefined) continue;
    if (entry.args !== undefined) reads.set(entry.place, entry.args.reads);
    const { outcome } = entry;
    if (outcome === undefined || (outcome.status === 'failed' && !outcome.final)) continue;
    settled.set(entry.place, [...(settled.get(entry.place) ?? []), entry]);
  }
  const replies = repliesOf(waits);
  const noted = notedOf(evidence);
  for (const { wait, answer, askedAt } of waits) {
    if (wait.kind !== 'approval' && wait.kind !== 'in_doubt') continue;
    const args = wait.args as { readonly place: string; readonly reads: readonly number[] };
    if (!reads.has(args.place)) reads.set(args.place, args.reads);
    if (wait.kind !== 'approval') continue;
    refused.delete(args.place); // what a step was told that was left behind, and asked anew
    const code = refusals[answer?.decision ?? ''];
    if (code !== undefined) refused.set(args.place, { code, key: wait.effectKey, at: askedAt });
  }
  return (commits) => ({
    replyTo: (place) => replies.get(place)?.(),
    eventAt: (place) => noted(place),
    childOf: (place) => {
      const heard = waits.findLast(({ wait }) => wait.kind === 'child' && inputOf(wait) === place)?.answer;
      if (heard?.decision !== 'ended') throw new Gap(`no end of the child of ${place} is on record`);
      return heard.value as ChildOutcome;
    },
    readsOf: (place) => reads.get(place) ?? [],
    resultOf(place) {
      const refusal = refused.get(place);
      const known = settled.get(place) ?? [];
      const newest = known.at(-1)?.intent.key;
      const own = world.redoes ? known.filter(({ intent }) => intent.key === newest) : known; // the others were left behind
      const entry = firstSettled(own, commits);
      // A call of a later step that needed no approval any more.
      const isPast = refusal !== undefined && entry !== undefined && entry.intent.key !== refusal.key;
      if (refusal !== undefined && !(isPast && entry.settledAt > refusal.at)) throw failure(refusal.code);
      if (entry === undefined) throw new Gap(`no result of ${place} is on record`);
      const status = entry.outcome?.status;
      if (undone.has(entry)) throw failure('effect_compensated');
      if (status === 'succeeded') return entry.value;
      if (status === 'failed') return instead(plan.policy, entry, known);
      throw failure(`effect_${status}`);
    },
  });
}

/** Of the child that this wait is for. */
export function inputOf({ args }: Wait): string {
  return (args as { readonly input: { readonly input: string } }).input.input;
}

/** What the policy puts in the place of a call that failed. */
function instead(policy: PolicyTable = [], { intent }: Entry, known: readonly Entry[]): unknown {
  const rule = policy.find(({ tool }) => tool === intent.name);
  if (rule?.action === 'value') return rule.value;
  const other = rule?.action === 'use_tool' ? known.find((each) => each.intent.name === rule.use) : undefined;
  if (other?.outcome?.status === 'succeeded') return other.value;
  throw failure('effect_failed');
}

/** The entry that came to its outcome first, of those that had one by then. */
function firstSettled(entries: readonly Entry[], until: number): Entry | undefined {
  const known = entries.filter(({ settledAt }) => settledAt <= until);
  return known.reduce<Entry | undefined>(
    (first, entry) => (first === undefined || entry.settledAt < first.settledAt ? entry : first),
    undefined,
  );
}

function failure(code: string): HoldfastError {
  return new HoldfastError(code, code, {});
}

export function changed(state: Reference['state'], update: PlanUpdate): Reference['state'] {
  return {
    input: update.input ?? state.input,
    rounds: addRounds(state.rounds, update.rounds ?? {}),
    total: state.total + (update.total ?? 0),
    last: update.last ?? state.last,
    big: update.big ?? state.big,
    notes: [...state.notes, ...(update.notes ?? [])],
  };
}
