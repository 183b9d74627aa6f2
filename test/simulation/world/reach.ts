/** The way of one process to the services outside: every call of it is an operation, and is watched. */
import type { LanguageModel, ModelContext, ModelPart, ModelRequest } from '../../../src/program/model.ts';
import type { ToolCall } from '../../../src/program/tool.ts';
import type { CallArgs } from '../plan/plan.ts';
import type { Reach } from '../plan/tools.ts';
import type { Life } from './life.ts';
import type { Watch } from './watch.ts';
import type { World } from './world.ts';

type Leaves = <Result>(
  kind: 'call' | 'model' | 'about',
  name: string,
  call: { readonly effectKey: string; readonly attempt: number },
  go: () => Promise<Result>,
) => Promise<Result>;

/** The thread whose effect this is. */
export type WatchOf = (effectKey: string) => Watch;

function leavesOf(world: World, life: Life, watchOf: WatchOf): Leaves {
  const { timeline } = world;
  return (kind, name, { effectKey, attempt }, go) => {
    const beganAtMs = timeline.nowMs;
    const watch = watchOf(effectKey);
    if (!life.isOver) watch.called(life, kind, name, effectKey, attempt, timeline.wallMs);
    return life.pass({ kind: 'outside', name: `${kind} ${name}` }, async () => {
      // Who stood still in between and was not robbed finds its connection gone; what a robbed one sends, leaves.
      if (timeline.nowMs > beganAtMs && watch.isNewest(life)) throw new Error('The connection was closed.');
      return go();
    });
  };
}

export function reachOf(world: World, life: Life, watchOf: WatchOf): Reach {
  const { outside } = world;
  const leaves = leavesOf(world, life, watchOf);
  const marked = (given: CallArgs, { effectKey }: ToolCall): CallArgs => {
    const { marks } = watchOf(effectKey);
    return marks === '' ? given : { ...given, place: marks + given.place };
  };
  return {
    call: (tool, given, call) => {
      const args = marked(given, call);
      const release = outside.holds(args.place);
      void life.death.then(release);
      return leaves('call', tool, call, () => outside.call(tool, args, call)).finally(release);
    },
    verify: (tool, args, call) => leaves('about', tool, call, () => outside.verify(tool, marked(args, call), call)),
    compensate: (tool, args, call) =>
      leaves('about', tool, call, () => outside.compensate(tool, marked(args, call), call)),
  };
}

/**
 * A class: an engine of JavaScript keeps a generator function, and all that it closes over, until it collects all there is, which
 * would be every world that was lived through since.
 */
export class FickleModel implements LanguageModel {
  readonly name = 'fickle';
  readonly #world: World;
  readonly #watchOf: WatchOf;
  readonly #leaves: Leaves;

  constructor(world: World, life: Life, watchOf: WatchOf) {
    this.#world = world;
    this.#watchOf = watchOf;
    this.#leaves = leavesOf(world, life, watchOf);
  }

  async *stream(request: ModelRequest, context: ModelContext): AsyncGenerator<ModelPart, void, undefined> {
    yield* await this.#leaves('model', 'model', context, async () => {
      const parts: ModelPart[] = [];
      const { marks } = this.#watchOf(context.effectKey);
      for await (const part of this.#world.outside.stream(request, context, marks)) parts.push(part);
      return parts;
    });
  }
}
