/** Forks: each is a thread that is judged by itself, and against what it was made of (PROTOCOL 4). */
import { editAdds, migrationAdds } from '../plan/interpret.ts';
import type { ClientAction } from '../world/client.ts';
import type { ForkWatch } from '../world/fork-watch.ts';
import type { SeenCheckpoint } from '../world/peek.ts';
import type { World } from '../world/world.ts';
import { type Asked, type Evidence, gather, lineageOf } from './evidence.ts';
import { compareStates, type Oracle, oracles } from './oracles.ts';
import { followRuns } from './whole-run.ts';

/** Without those about what comes from the client, and with another state: it has that of its source, and answers of its own. */
const {
  'state-follows-the-record': _,
  'inputs-are-accounted-for': __,
  'events-go-to-one-wait': ___,
  'budgets-are-kept': ____,
  ...ofOneThread
} = oracles;

export async function judgeForks(
  world: World,
  source: Evidence | undefined,
  actions: readonly ClientAction[],
): Promise<void> {
  if (!world.client.forks.isAny) return;
  keysAreOfOneIntention(world);
  acknowledgedAreThere(world);
  for (const fork of world.watches.forks) {
    const evidence = await gather(world, world.plan, fork);
    if (evidence === undefined) continue; // deleted
    for (const judge of Object.values<Oracle>(ofOneThread)) await judge(evidence, actions);
    whatIsReusedIsNotMadeAgain(evidence, source, fork);
    if (source !== undefined) offersAreTakenAlong(evidence, source, fork);
    grantedNothing(evidence, fork);
    const isKept = world.counts.deletions === 0 && !world.watch.hasLosses; // else nothing tells what it was made of
    if (source !== undefined && isKept) await stateFollowsTheRecord(evidence, source, fork, actions);
  }
}

/** What its own lineage calls has keys of its own. */
function keysAreOfOneIntention({ outside, findings }: World): void {
  const known = new Map<string, string>();
  for (const [intention, keys] of outside.keys) {
    for (const key of keys) {
      const other = known.get(key);
      if (other !== undefined) findings.violate('one-intention-per-key', `${other} and ${intention} came with ${key}.`);
      known.set(key, intention);
    }
  }
}

/** I1. */
function acknowledgedAreThere({ client, watches, findings }: World): void {
  for (const { thread, action, isAcknowledged } of client.forks.asked.values()) {
    const made = watches.forks.filter((fork) => fork.thread === thread);
    if (isAcknowledged && !made.some(({ row, isPurged }) => row !== undefined || isPurged))
      findings.violate('acknowledged-is-durable', `The fork "${action.id}" was acknowledged and is not there (I1).`);
  }
}

/** A result that was to be reused is in the fork's ledger, and nobody was asked for it in the fork's name. */
function whatIsReusedIsNotMadeAgain({ world, entries }: Evidence, source: Evidence | undefined, fork: ForkWatch): void {
  const wrong = (why: string) => world.findings.violate('what-is-reused-is-not-made-again', why);
  const given = entries.filter(({ intent }) => intent.number <= fork.carried);
  for (const { place = '', intent } of given) {
    if (world.outside.tools.has(fork.marks + place))
      wrong(`${intent.name} ${place} was reused, and called as ${fork.marks}${place}.`);
  }
  const keys = new Set<string>(given.map(({ intent }) => intent.key));
  const asked = [...world.client.forks.asked.values()].find(({ thread }) => thread === fork.thread);
  const [first, ...others] = asked?.asked ?? [];
  for (const key of first ?? []) {
    // What was passed on is taken along under the key of the call that was really made.
    const passedOn = source?.entries.find(({ intent }) => intent.key === key)?.place;
    const isGiven = keys.has(key) || (passedOn !== undefined && given.some(({ place }) => place === passedOn));
    if (others.every((other) => other.has(key)) && !isGiven)
      wrong(`${key} was to be reused, and the fork took along ${[...keys].join(', ')}.`);
  }
}

/** What was on offer at the checkpoint is on offer in the fork, where nothing else was chosen. */
function offersAreTakenAlong({ world, entries }: Evidence, source: Evidence, fork: ForkWatch): void {
  const asked = [...world.client.forks.asked.values()].find(({ thread }) => thread === fork.thread);
  if (asked?.action.choice !== 'reuse') return;
  const given = new Set(entries.flatMap(({ intent, place }) => (intent.number <= fork.carried ? [place] : [])));
  const offered = source.watch.seen.get(fork.from)?.offered ?? [];
  for (const { intent, place } of source.entries) {
    if (!offered.includes(intent.number) || given.has(place)) continue;
    const why = `${intent.name} ${place} was on offer, and the fork does not have it.`;
    world.findings.violate('what-is-reused-is-not-made-again', why);
  }
}

/** What needs leave, it asks for itself, whatever its source was allowed. */
function grantedNothing({ world, entries, waits }: Evidence, fork: ForkWatch): void {
  const asked = new Set<string>();
  const forThread = new Set<string>();
  for (const { wait, answer } of waits) {
    if (wait.kind !== 'approval') continue;
    asked.add(wait.effectKey);
    if (answer?.decision === 'allow' && answer.forThread === true) forThread.add(wait.tool);
  }
  for (const { intent, args, outcome } of entries) {
    if (intent.number <= fork.carried || outcome?.by === 'reuse' || args === undefined || args.ask === null) continue;
    if (asked.has(intent.key) || forThread.has(intent.name)) continue;
    const what = `${intent.name} ${fork.marks}${args.place}`;
    world.findings.violate('a-fork-is-granted-nothing', `${what} was made, and nobody was asked.`);
  }
}

/** What the state of a fork that was edited begins with more: it is that of the newest version then. */
function addedByFork({ world, lineage, row }: Evidence, from: SeenCheckpoint | undefined): number {
  const asked = [...world.client.forks.asked.values()].find(({ thread }) => thread === row.thread);
  if (asked?.action.edits !== true) return 0;
  const isMigrated = lineage[0]?.stateVersion !== from?.stateVersion;
  return editAdds + (isMigrated ? migrationAdds : 0);
}

/** I7: the end is that of a run of its source that was given what was on record by then, and from there on the fork's answers. */
async function stateFollowsTheRecord(
  fork: Evidence,
  source: Evidence,
  { from }: ForkWatch,
  actions: readonly ClientAction[],
): Promise<void> {
  const { world } = fork;
  const before = lineageOf(world, source.watch, source.row, from);
  const count = before.at(-1)?.ledger ?? 0;
  const until = source.watch.checkpointAt.get(from) ?? 0;
  const placed = ({ wait }: Asked) => (wait.args as { readonly place?: string } | null)?.place;
  const own = new Set([...fork.entries.map(({ place }) => place), ...fork.waits.map(placed)]);
  const entries = source.entries.filter(({ intent, place }) => intent.number <= count && !own.has(place));
  const waits = source.waits.filter((asked) => asked.askedAt <= until && !own.has(placed(asked)));
  const whole: Evidence = {
    ...fork,
    lineage: [...before, ...fork.lineage],
    entries: [...entries, ...fork.entries],
    waits: [...waits, ...fork.waits],
    inbox: source.inbox,
  };
  const expected = await followRuns(whole, actions);
  if (expected === undefined) return;
  const total = expected.total + addedByFork(fork, before.at(-1));
  compareStates(fork, { ...expected, total });
}
