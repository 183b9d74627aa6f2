/** The rules that hold at the end of every world, each by its name. Those that hold at every moment are in `world/watch.ts`. */
import { equalBytes } from '../../../src/base/bytes.ts';
import { openRowControl } from '../../../src/codec/control-codec.ts';
import { nextLedgerDigest } from '../../../src/codec/ledger-codec.ts';
import type { EffectKey } from '../../../src/model/ids.ts';
import { tables } from '../../../src/model/records.ts';
import type { ClientAction } from '../world/client.ts';
import { isCheckpoint, seeDropped } from '../world/peek.ts';
import type { World } from '../world/world.ts';
import { type Evidence, undoneOf } from './evidence.ts';
import { follow } from './reference.ts';
import { followRuns } from './whole-run.ts';

export type Oracle = (evidence: Evidence, actions: readonly ClientAction[]) => void | Promise<void>;

export const oracles = {
  /** I7: the end is that of an undisturbed run that was given the same answers. */
  async 'state-follows-the-record'(evidence, actions) {
    const { travel } = await openRowControl(evidence.codec, evidence.row);
    if (evidence.watch.hasLosses || travel?.isLost) return; // a call is on record for two lineages: which is meant, nothing tells
    const expected = evidence.plan.isWhole
      ? await followRuns(evidence, actions)
      : (await follow(evidence, actions))?.state;
    if (expected !== undefined) compareStates(evidence, expected);
  },

  /** A10: a state is made into one of the new version once. */
  'migrations-run-once'({ world, lineage }) {
    const count = lineage.filter(({ cause }) => cause === 'migrated').length;
    if (count > 1) world.findings.violate('migrations-run-once', `The state was migrated ${count} times.`);
  },

  /** An event that was sent goes to one wait, and to no second one, also where the step that took it never ended. */
  'events-go-to-one-wait'({ world, watch, row, waits, notes, inbox }) {
    const takers = new Map<number, string>();
    const all = world.data.records('checkpoints', row.thread).range({}).filter(isCheckpoint);
    // A policy that runs a step once more is no other wait: the step gets its events again.
    const isAllKept = !all.some((record) => watch.checkpoint(record).cause === 'policy');
    for (const { wait, answer } of waits) {
      if (answer?.decision !== 'arrived') continue;
      const id = inbox.get(answer.order);
      const before = takers.get(answer.order);
      takers.set(answer.order, wait.id);
      if (before !== undefined && isAllKept)
        world.findings.violate('events-go-to-one-wait', `${id} went to ${before} and ${wait.id}.`);
      if (answer.value !== id)
        world.findings.violate('events-go-to-one-wait', `${id} came as ${String(answer.value)}.`);
    }
    const taken = notes.flatMap((note) => /^\S+ = (ev\d+)$/.exec(note)?.[1] ?? []);
    if (new Set(taken).size < taken.length)
      world.findings.violate('events-go-to-one-wait', `Events that were taken: ${taken.join(', ')}.`);
  },

  /** Once nothing goes wrong any more and all is answered, every thread comes to its end. */
  'nothing-is-stuck'({ world, plan, row }) {
    const { limits, nodes } = plan;
    const hasLimits = limits !== undefined || nodes.some(({ deadlineMs }) => deadlineMs !== undefined);
    if (hasLimits && ['timed_out', 'out_of_budget'].includes(row.status)) return; // until somebody extends it, or gives it up
    const isAtEnd = ['done', 'failed', 'cancelled', 'idle'].includes(row.status) && row.inboxTaken === row.inbox;
    if (isAtEnd || world.stoppedAloud) return;
    const last = world.newest()?.lastEnd?.end;
    const what = `The thread is "${row.status}" with ${row.inbox - row.inboxTaken} items in its inbox`;
    world.findings.violate('nothing-is-stuck', `${what}; its last run ended "${last}".`);
  },

  /** Never twice: each intention of class once is carried out at most once, and as often as the record says. */
  'once-is-once'({ world, watch, entries }) {
    const { outside, findings } = world;
    const compensated = undoneOf(entries, world);
    for (const [place, tool] of outside.tools) {
      if (tool === 'look' || tool === 'model') continue;
      if (isOfDeleted(world, place)) continue; // sent again to another thread, it is done again
      if (world.redoes && tool === 'put') continue;
      const [carried, undone] = [outside.carried.get(place) ?? 0, outside.undone.get(place) ?? 0];
      if (carried > 1) findings.violate('once-is-once', `${tool} ${place} was carried out ${carried} times.`);
      if (watch.hasLosses) continue;
      const settled = entries.findLast(
        (entry) =>
          entry.intention === place &&
          entry.outcome !== undefined &&
          (entry.outcome.status !== 'failed' || entry.outcome.final),
      );
      const happened = carried - undone;
      const says = settled !== undefined && compensated.has(settled) ? 'compensated' : settled?.outcome?.status;
      if (says === 'succeeded' && happened !== 1)
        findings.violate('record-is-true', `${tool} ${place} succeeded on record, and happened ${happened} times.`);
      if (says === 'compensated' && happened !== 0)
        findings.violate('record-is-true', `${tool} ${place} was undone on record, and stands.`);
      if (says === 'failed' && tool !== 'put' && happened !== 0)
        findings.violate('record-is-true', `${tool} ${place} failed on record, and happened.`);
    }
  },

  /** One intention has one key, on every attempt and in every life. */
  'one-key-per-intention'({ world, entries }) {
    const stand = new Set(entries.flatMap(({ intent, outcome }) => (outcome?.status === 'failed' ? [] : [intent.key])));
    for (const [place, keys] of world.outside.keys) {
      if (world.client.travels) continue; // a call that failed is made again, and another lineage has other keys
      // What certainly did not happen may be made again, where a policy has its step run once more.
      const isOver = [...keys].slice(0, -1).every((key) => !stand.has(key as EffectKey));
      if (world.redoes && (isOver || !/ by (pay|ship|book|mail|wire)$/.test(place))) continue;
      if (isOfDeleted(world, place)) continue;
      // A read leaves no record before it is made: what came of it is lost with the commits before it.
      if (place.endsWith(' by look') && (world.counts.powerCuts > 0 || world.counts.spoiled > 0)) continue;
      if (keys.size > 1)
        world.findings.violate('one-key-per-intention', `${place} came with the keys ${[...keys].join(', ')}.`);
    }
  },

  /** What the record gives a node is what the outside gave to the engine. */
  'results-are-real'({ world, entries }) {
    for (const { intention: place, value, outcome } of entries) {
      if (place === undefined || outcome?.status !== 'succeeded' || outcome.by === 'person') continue;
      const text = typeof value === 'string' ? value : (value as { readonly text?: string } | undefined)?.text;
      if (text !== undefined && world.outside.results.get(place)?.has(text) === true) continue;
      world.findings.violate('results-are-real', `${place} has the result ${short(String(text))}, which nobody gave.`);
    }
  },

  /** Retries are counted over restarts: nothing fails more often than it may. */
  'retries-are-counted'({ world, watch, entries }) {
    if (watch.hasLosses) return;
    const most = 3 + world.counts.steals + world.counts.freezes; // of two runners at once, one does not know of the other's
    const failures = new Map<string, number>();
    for (const { intent, outcome, doubt } of entries) {
      const isGone = doubt?.reason.code === 'result_not_stored' && doubt.reason.message.includes('as succeeded'); // it went well
      const isRefused = outcome?.status === 'failed' && (outcome.by === 'call' || intent.kind === 'node');
      const hasFailed = isRefused || (doubt !== undefined && !isGone);
      if (!hasFailed || outcome?.by === 'person') continue; // a person may have it tried again as often as wanted
      const what =
        intent.kind === 'node' ? `node ${intent.name} of step ${intent.step}` : `${intent.name} ${intent.key}`;
      failures.set(what, (failures.get(what) ?? 0) + 1);
    }
    for (const [what, count] of failures) {
      if (count > most)
        world.findings.violate('retries-are-counted', `${what} failed ${count} times; ${most} are allowed.`);
    }
  },

  /** What a run may use is counted over restarts, and reached but once: each answer of the model uses five tokens. */
  'budgets-are-kept'({ world, plan, watch, entries }, actions) {
    const { tokens } = plan.limits ?? {};
    if (tokens === undefined || watch.hasLosses) return;
    const more = actions.reduce((sum, action) => sum + (action.does === 'extend' ? (action.limits.tokens ?? 0) : 0), 0);
    const most = plan.nodes.some(({ ops }) => ops.some(({ op }) => op === 'all')) ? 15 : 5; // side by side
    const used = new Map<string, number>();
    const counted = new Set<string>(); // a second answer is one that another runner asked for: kept, and not the run's (PROTOCOL 3)
    for (const { intent, outcome, place = '' } of entries) {
      if (intent.kind !== 'model' || outcome?.status !== 'succeeded' || counted.has(intent.key)) continue;
      counted.add(intent.key);
      const run = place.slice(0, place.indexOf('/'));
      used.set(run, (used.get(run) ?? 0) + 5);
    }
    for (const [run, count] of used) {
      if (count < tokens + more + most) continue;
      world.findings.violate('budgets-are-kept', `The run of ${run} used ${count} tokens of ${tokens} + ${more}.`);
    }
  },

  /** A thread that takes its process away each time is stopped: it is run once, and resumed so often (PROTOCOL 5). */
  'poison-is-stopped'({ world, plan, watch }) {
    const { mostPoisonings } = watch;
    const most = plan.maxResumes + 1;
    if (mostPoisonings > most)
      world.findings.violate('poison-is-stopped', `${mostPoisonings} processes died in a row; ${most} at most.`);
  },

  /** Every acknowledged item is taken, pending, or lost to a winner that is named; none is there twice. */
  'inputs-are-accounted-for'({ world, plan, watch, row, inbox, lineage }) {
    const orders = new Map<string, number>();
    for (const [order, id] of inbox) {
      if (orders.has(id)) world.findings.violate('inbox-knows-its-ids', `"${id}" is in the inbox twice (PROTOCOL 6).`);
      orders.set(id, order);
    }
    const all = world.data.records('checkpoints', row.thread).range({}).filter(isCheckpoint);
    // Also where somebody went back; and what a repair did without.
    const isLeft = plan.isWhole || lineage.some(({ cause }) => cause === 'rolled_back');
    const others = isLeft ? all.map((record) => watch.checkpoint(record)) : [];
    const everywhere = [...lineage, ...others];
    const taken = new Set(
      everywhere
        .filter(({ cause }) => cause === 'input' || cause === 'failed')
        .flatMap(({ inboxTaken, inboxOrder }) => [inboxTaken, inboxOrder]),
    );
    const dropped = new Set(
      everywhere
        .filter(({ cause }) => cause === 'cancelled')
        .flatMap(({ id }) => {
          const events = world.data.records('events', row.thread).get(id);
          return events === undefined ? [] : seeDropped(events);
        }),
    );
    for (const id of world.client.acknowledged) {
      const order = orders.get(id);
      if (order === undefined)
        world.findings.violate('inputs-are-accounted-for', `"${id}" was acknowledged and is not in the inbox.`);
      else if (order <= row.inboxTaken && id.startsWith('in') && !taken.has(order) && !dropped.has(order)) {
        world.findings.violate('inputs-are-accounted-for', `"${id}" is behind the thread, and nobody took it.`);
      }
    }
    const inputs = lineage.filter(({ cause }) => cause === 'input').map(({ inboxOrder }) => inboxOrder);
    if (new Set(inputs).size < inputs.length)
      world.findings.violate('inputs-are-taken-once', `Orders taken: ${inputs.join(', ')}.`);
  },

  /** An acknowledged answer is the one that stands. */
  'answers-are-kept'({ world, waits }) {
    for (const { wait, answer } of waits) {
      const due = world.person.acknowledged.get(wait.id);
      if (due === undefined || answer?.decision === due) continue;
      world.findings.violate(
        'answers-are-kept',
        `Wait for ${wait.tool} was answered "${due}", on record is "${answer?.decision}".`,
      );
    }
  },

  /** Nobody is asked for what nobody waits for: a wait ends with its run (PROTOCOL 6). One that can be extended has not ended. */
  'no-wait-outlives-its-run'({ world, watch, row, waits, lineage }) {
    if (watch.hasLosses || !['done', 'failed', 'cancelled'].includes(row.status)) return;
    if (row.status === 'failed' && lineage.at(-1)?.failureCode === 'step_limit' && watch === world.watch) return;
    for (const { wait, answer } of waits) {
      if (answer !== undefined) continue;
      const what = `The ${wait.kind} of ${wait.tool} is open`;
      world.findings.violate('no-wait-outlives-its-run', `${what}, and the run that asked is ${row.status}.`);
    }
  },

  /** A run that reaches a limit, and is extended, keeps its waits: nobody gave it up. */
  'a-limit-closes-no-wait'({ world, plan, lineage, waits, entries }, actions) {
    const isGivenUp = actions.filter(({ does }) => does !== 'signal' && does !== 'extend').length > 1;
    const isExtended = lineage.some(({ cause }) => cause === 'extended');
    const isWholeRun = [undefined, 'lines_failed'].includes(lineage.at(-1)?.failureCode); // no step ended beside its own waits
    if (isGivenUp || !isExtended || !isWholeRun || plan.policy !== undefined) return;
    // What came late has settled its doubt: nobody has to.
    const arrived = new Set(entries.flatMap(({ intent, outcome }) => (outcome?.by === 'call' ? [intent.key] : [])));
    for (const { wait, answer } of waits) {
      if (answer?.decision !== 'cancelled' || (wait.kind === 'in_doubt' && arrived.has(wait.effectKey))) continue;
      world.findings.violate('a-limit-closes-no-wait', `The ${wait.kind} of ${wait.tool} was closed.`);
    }
  },

  /** The running digest is that of all intents: a hole would show. */
  async 'ledger-digest-agrees'({ world, watch, row, codec, entries }) {
    if (watch.hasLosses) return;
    let digest: Uint8Array = new Uint8Array(16);
    for (const { intent, digest: stored } of entries) {
      digest = await nextLedgerDigest(codec, digest, intent);
      if (!equalBytes(digest, stored))
        return world.findings.violate('ledger-digest-agrees', `Entry ${intent.number} carries another digest.`);
    }
    const { ledgerDigest } = await openRowControl(codec, row);
    const isWhole = entries.length === row.ledger && equalBytes(digest, ledgerDigest);
    if (!isWhole)
      world.findings.violate(
        'ledger-digest-agrees',
        `The row counts ${row.ledger} entries, ${entries.length} are there, or its digest is another.`,
      );
  },

  /** Every record opens where it lies. */
  async 'records-open'({ world, watch, row, codec }) {
    for (const table of tables) {
      if (table === 'wraps' || table === 'ledger' || table === 'waits') continue; // opened with the evidence
      for (const record of world.data.records(table, row.thread).range({})) {
        if (table === 'inbox' && record.key.startsWith('id:')) continue;
        if (watch.spoiled.has(`${table}/${record.key}`)) continue;
        const placed = table === 'inbox' ? { ...record, key: String(record.plain.dedupId) } : record;
        try {
          await codec.openRecord(table, placed);
        } catch (error) {
          if (!watch.hasLosses) world.findings.violate('records-open', `${table}/${record.key}: ${String(error)}`);
        }
      }
    }
  },
} satisfies Readonly<Record<string, Oracle>>;

export function compareStates({ world, state }: Evidence, expected: object): void {
  if (state === undefined) return;
  for (const [name, value] of Object.entries(expected)) {
    const [stored, due] = [JSON.stringify(state[name]), JSON.stringify(value)];
    if (stored === due) continue;
    world.findings.violate(
      'state-follows-the-record',
      `Field "${name}" is ${short(stored)}, by the record ${short(due)}.`,
    );
  }
}

/** What a fork does is its own, whatever becomes of its source. */
function isOfDeleted({ counts }: World, place: string): boolean {
  return counts.deletions > 0 && !/^(in9|f\d+:)/.test(place);
}

function short(text: string | undefined): string {
  return text === undefined || text.length < 160 ? String(text) : `${text.slice(0, 70)} … ${text.slice(-70)}`;
}
