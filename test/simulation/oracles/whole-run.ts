/**
 * What the thread must have come to where lines run side by side: each run of the lineage as a whole, with the answers that are
 * on record. Lines are followed one by one, in their order: whichever ended first must not matter.
 */
import { alongEdge, type ForkExit } from '../plan/exits.ts';
import { editAdds, migrationAdds, type PlanUpdate, runNode } from '../plan/interpret.ts';
import type { PlanNode } from '../plan/plan.ts';
import type { ClientAction } from '../world/client.ts';
import type { SeenCheckpoint } from '../world/peek.ts';
import type { Evidence } from './evidence.ts';
import { type Answers, answersOf, calm, changed, type Reference, scopeOf } from './reference.ts';

type State = Reference['state'];

interface Followed {
  readonly end: 'done' | 'failed';
  readonly updates: readonly PlanUpdate[];
  readonly error?: unknown;
  /** Where it failed. */
  readonly at?: string;
}

/** Failures that no record of the plan's own explains. */
const fromOutside = ['resume_limit', 'step_limit'];

/** The state at the end; `undefined` where a run was cut off in the middle, and its lines might have done more or less. */
export async function followRuns(evidence: Evidence, actions: readonly ClientAction[]): Promise<State | undefined> {
  const { world, plan, lineage } = evidence;
  const answers = answersOf(evidence)(Number.POSITIVE_INFINITY);
  let state: State = { input: '', rounds: {}, total: 0, last: '', big: '', notes: [] };
  for (const { cause } of lineage) {
    if (cause === 'input') break;
    state = besideSteps(state, cause);
  }
  for (const run of runsOf(lineage)) {
    const last = run.at(-1);
    if (last === undefined || (last.status !== 'done' && last.status !== 'failed')) return undefined;
    if (fromOutside.includes(last.failureCode ?? '')) return undefined;
    const id = evidence.inbox.get(run[0]?.inboxOrder ?? 0);
    const input = actions.find((action) => action.does === 'send' && action.input === id);
    if (input?.does !== 'send') return undefined;
    const { total, big } = input;
    const given = { input: input.input, ...(total !== undefined && { total }), ...(big !== undefined && { big }) };
    state = changed(state, given);
    const { nodes } = plan;
    const followed = await new Follower(evidence, answers).line(nodes, nodes[0]?.name ?? '', state, undefined);
    if (followed.end !== last.status) {
      const why = `the run of ${id} is ${last.status} (${last.failureCode}), by the record it is ${followed.end}`;
      world.findings.violate('state-follows-the-record', `${why}: ${String(followed.error)}`);
      return undefined;
    }
    state = followed.updates.reduce<State>(changed, state);
    for (const { cause } of run) state = besideSteps(state, cause);
  }
  return state;
}

/** What a migration, or a person who edits, adds to the state: in the middle of a run, or where none is under way. */
function besideSteps(state: State, cause: string): State {
  if (cause === 'migrated') return changed(state, { total: migrationAdds });
  return cause === 'edited' ? changed(state, { total: editAdds }) : state;
}

/** The checkpoints of each run that is not finished off by going back behind it. */
function runsOf(lineage: readonly SeenCheckpoint[]): readonly SeenCheckpoint[][] {
  const runs: SeenCheckpoint[][] = [];
  for (const at of lineage) {
    if (at.cause === 'input') runs.push([at]);
    else if (at.cause !== 'rolled_back') runs.at(-1)?.push(at);
  }
  return runs;
}

class Follower {
  readonly #evidence: Evidence;
  readonly #answers: Answers;

  constructor(evidence: Evidence, answers: Answers) {
    this.#evidence = evidence;
    this.#answers = answers;
  }

  /** One line, from a node to its end, with all that forks off it. */
  async line(nodes: readonly PlanNode[], start: string, base: State, item: string | undefined): Promise<Followed> {
    const updates: PlanUpdate[] = [];
    let state = base;
    let failures: readonly { readonly index: number; readonly node: string }[] = [];
    const add = (more: readonly PlanUpdate[]) => {
      updates.push(...more);
      state = more.reduce<State>(changed, state);
    };
    for (let next: string | null = start; next !== null; ) {
      const node = nodes.find(({ name }) => name === next);
      if (node === undefined) throw new Error(`The plan has no node "${next}".`);
      if (node.graph !== undefined) {
        const inner = await this.line(node.graph, node.graph[0]?.name ?? '', state, item);
        add(inner.updates);
        if (inner.end === 'failed')
          return { end: 'failed', updates, error: inner.error, at: `${node.name}/${inner.at}` };
        next = node.exit.to === 'node' ? node.exit.node : null;
        continue;
      }
      const ran = await this.#run(node, state, item, failures);
      if ('error' in ran) return { end: 'failed', updates, error: ran.error, at: node.name };
      failures = [];
      add([ran.update]);
      const { leave } = ran;
      if (leave.type === 'goto') next = leave.node;
      else if (leave.type === 'end') next = null;
      else if (leave.type === 'update') next = alongEdge(node.exit, state.total);
      else {
        const lines = await this.#fork(nodes, leave.exit, state);
        add(lines.flatMap((each) => each.updates));
        failures = lines.flatMap(({ end, at }, index) => (end === 'failed' ? [{ index, node: at ?? '' }] : []));
        const [first] = failures;
        if (first !== undefined && leave.exit.failures === 'stop') {
          return { end: 'failed', updates, error: lines[first.index]?.error, at: node.name };
        }
        next = leave.exit.join;
      }
    }
    return { end: 'done', updates };
  }

  #fork(nodes: readonly PlanNode[], { lines }: ForkExit, state: State): Promise<readonly Followed[]> {
    return Promise.all(lines.map(({ node, item }) => this.line(nodes, node, state, item)));
  }

  async #run(
    node: PlanNode,
    state: State,
    item: string | undefined,
    failures: readonly { index: number; node: string }[],
  ) {
    const { notes } = state;
    const seen = { ...state, notes: { length: notes.length, tail: async (count: number) => notes.slice(-count) } };
    const given = { item: node.takesItem ? item : undefined, failures };
    try {
      return await runNode(node, seen, scopeOf(this.#answers, { tokens: 0 }), calm, given);
    } catch (error) {
      const { policy, policyAnswer } = this.#evidence.plan;
      const rule = policy?.find(({ action }) => {
        return action === 'default' || action === 'skip' || (action === 'ask' && policyAnswer === 'skip');
      });
      if (rule === undefined || (rule.node ?? node.name) !== node.name) return { error };
      return {
        update: rule.action === 'default' ? (rule.update as PlanUpdate) : {},
        leave: { type: 'update' as const },
      };
    }
  }
}
