/** The way of one process to the services outside: every call of it is an operation, and is watched. */
import type { LanguageModel } from '../../../src/program/model.ts';
import type { Reach } from '../plan/tools.ts';
import type { Life } from './life.ts';
import type { World } from './world.ts';

type Leaves = <Result>(
  kind: 'call' | 'model' | 'about',
  name: string,
  call: { readonly effectKey: string; readonly attempt: number },
  go: () => Promise<Result>,
) => Promise<Result>;

function leavesOf(world: World, life: Life): Leaves {
  const { timeline } = world;
  return (kind, name, { effectKey, attempt }, go) => {
    const beganAtMs = timeline.nowMs;
    const watch = world.watchOfEffect(effectKey);
    if (!life.isOver) watch.called(life, kind, name, effectKey, attempt, timeline.wallMs);
    return life.pass({ kind: 'outside', name: `${kind} ${name}` }, async () => {
      // Who stood still in between and was not robbed finds its connection gone; what a robbed one sends, leaves.
      if (timeline.nowMs > beganAtMs && !watch.wasRobbed(life)) throw new Error('The connection was closed.');
      return go();
    });
  };
}

export function reachOf(world: World, life: Life): Reach {
  const { outside } = world;
  const leaves = leavesOf(world, life);
  return {
    call: (tool, args, call) => {
      const release = outside.holds(args.place);
      void life.death.then(release);
      return leaves('call', tool, call, () => outside.call(tool, args, call)).finally(release);
    },
    verify: (tool, args, call) => leaves('about', tool, call, () => outside.verify(tool, args, call)),
    compensate: (tool, args, call) => leaves('about', tool, call, () => outside.compensate(tool, args, call)),
  };
}

export function modelOf(world: World, life: Life): LanguageModel {
  const leaves = leavesOf(world, life);
  return {
    name: 'fickle',
    async *stream(request, context) {
      yield* await leaves('model', 'model', context, async () => {
        const parts = [];
        for await (const part of world.outside.stream(request, context)) parts.push(part);
        return parts;
      });
    },
  };
}
