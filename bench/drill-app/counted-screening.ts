import { FileRef } from 'holdfast';
import { screening } from '../../src/demo/screening.ts';

/** The screening agent as it is, except that it tells the drill, outside, of every step before it runs it. */
export function countedScreening(outboxUrl: string): ReturnType<typeof screening> {
  const agent = screening({ outboxUrl });
  const nodes = Object.entries(agent.nodes).map(([name, node]) => {
    const definition = typeof node === 'function' ? { run: node } : node;
    if (!('run' in definition)) return [name, definition];
    const run = async (state: never, context: never) => {
      await fetch('/steps', { method: 'POST', body: `${name} ${labelOf(state)}` });
      return definition.run(state, context);
    };
    return [name, { ...definition, run }];
  });
  return { ...agent, nodes: Object.fromEntries(nodes) };
}

/** The same state gives the same label, in another run and in another process too. */
function labelOf(state: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(state, (_, value: unknown) => {
    if (value instanceof FileRef) return value.name;
    return typeof value === 'object' && value !== null && 'tail' in value && 'length' in value ? value.length : value;
  });
}
