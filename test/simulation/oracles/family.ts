/** Children: each thread is judged by itself, and against what its parent was told of it (PROTOCOL 6). */
import type { ChildOutcome } from '../../../src/engine/children.ts';
import { migrationAdds } from '../plan/interpret.ts';
import type { ClientAction } from '../world/client.ts';
import { type Evidence, gather } from './evidence.ts';
import { oracles } from './oracles.ts';
import { inputOf } from './reference.ts';

/** Of the rules for the world's own thread, those that are about what comes from its client are no rules for a child. */
const { 'inputs-are-accounted-for': _, 'events-go-to-one-wait': __, 'budgets-are-kept': ___, ...ofOneThread } = oracles;

const ends: readonly string[] = ['done', 'failed', 'cancelled'];

export async function judgeFamily(parent: Evidence): Promise<void> {
  const { world, plan } = parent;
  if (plan.child === undefined || world.counts.deletions > 0) return; // of a parent that is gone, nothing tells of its children
  const inputs = new Map<string, string>(
    parent.waits.flatMap(({ wait }) => (wait.kind === 'child' ? [[`parent:${wait.id}`, inputOf(wait)] as const] : [])),
  );
  const made = new Map<string, number>();
  const byInput = new Map<string, Evidence>();
  for (const watch of world.watches.children.values()) {
    const gathered = await gather(world, plan.child, watch);
    if (gathered === undefined) continue;
    const named = [...gathered.inbox].map(([order, id]) => [order, inputs.get(id) ?? id] as const);
    const child: Evidence = { ...gathered, inbox: new Map(named) };
    const [input = ''] = named.flatMap(([, id]) => (id.includes('/') ? [id] : []));
    made.set(input, (made.get(input) ?? 0) + 1);
    byInput.set(input, child);
    const sent: ClientAction = { does: 'send', input, afterMs: 0 };
    for (const judge of Object.values(ofOneThread)) await judge(child, [sent]);
  }
  for (const [input, count] of made) {
    if (count > 1) world.findings.violate('a-child-is-made-once', `${count} children were made for ${input}.`);
  }
  await compareEnds(parent, byInput);
}

/** What a parent was told is how its child ended; and every child that has ended has told it. */
async function compareEnds({ world, waits }: Evidence, children: ReadonlyMap<string, Evidence>): Promise<void> {
  const wrong = (why: string) => world.findings.violate('a-parent-hears-the-end', why);
  for (const { wait, answer } of waits) {
    if (wait.kind !== 'child') continue;
    const input = inputOf(wait);
    const child = children.get(input);
    const status = child?.row.status ?? '';
    if (answer === undefined && ends.includes(status))
      wrong(`The child of ${input} is ${status}, and nobody was told.`);
    const isToStop = [...(child?.inbox.values() ?? [])].includes(`parent-cancel:${wait.id}`);
    // Whoever goes back may die between that and telling the children.
    if (answer?.decision === 'cancelled' && child !== undefined && !isToStop && !world.client.travels) {
      wrong(`Nobody waits for the child of ${input} any more, and it was not told.`);
    }
    if (answer?.decision !== 'ended') continue;
    if (child === undefined && world.client.purges) continue; // its time was over
    const told = answer.value as ChildOutcome;
    if (child === undefined || told.status !== status) {
      wrong(`The child of ${input} is "${status}"; its parent was told "${told.status}".`);
      continue;
    }
    if (told.state === null || child.state === undefined) continue;
    const state = { ...child.state };
    // Newer code may have come after the end.
    const isMigrated = child.lineage.at(-1)?.cause === 'migrated';
    if (isMigrated) state.total = Number(state.total) - migrationAdds;
    for (const [name, value] of Object.entries(told.state)) {
      if (JSON.stringify(state[name]) === JSON.stringify(value)) continue;
      wrong(`"${name}" of the child of ${input} is ${JSON.stringify(state[name])}; told was ${JSON.stringify(value)}.`);
    }
  }
}
