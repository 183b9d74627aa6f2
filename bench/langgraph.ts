/** The peer: LangGraph.js with its MemorySaver, on a graph whose steps each append a message of 1 KB. */
import { Annotation, END, MemorySaver, START, StateGraph } from '@langchain/langgraph/web';
import { message } from './appending.ts';

export interface PeerRun {
  readonly tookMs: number;
  /** Serialized checkpoints and writes, as its saver holds them. */
  readonly storedBytes: number;
}

export async function runLangGraph(steps: number): Promise<PeerRun> {
  const State = Annotation.Root({
    messages: Annotation<string[]>({ reducer: (list, more) => list.concat(more), default: () => [] }),
  });
  const saver = new MemorySaver();
  const graph = new StateGraph(State)
    .addNode('append', () => ({ messages: [message()] }))
    .addEdge(START, 'append')
    .addConditionalEdges('append', ({ messages }) => (messages.length < steps ? 'append' : END))
    .compile({ checkpointer: saver });
  const began = performance.now();
  const { messages } = await graph.invoke(
    { messages: [] },
    { recursionLimit: steps + 10, configurable: { thread_id: 'thread' } },
  );
  const tookMs = performance.now() - began;
  if (messages.length !== steps) throw new Error(`The peer made ${messages.length} steps.`);
  return { tookMs, storedBytes: bytesIn(saver.storage) + bytesIn(saver.writes) };
}

function bytesIn(held: unknown): number {
  if (held instanceof Uint8Array) return held.length;
  if (typeof held !== 'object' || held === null) return 0;
  return Object.values(held).reduce((sum: number, part) => sum + bytesIn(part), 0);
}
