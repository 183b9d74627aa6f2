import type { RequirementItem } from './item.ts';

/** E: agents. F: interfaces people already use. G: past one browser. */
export const agentItems: readonly RequirementItem[] = [
  {
    id: 'E1',
    title: 'Tool loop',
    parts: {
      a: 'model, tools, model; tool input by any Standard Schema',
      b: 'parallel tool calls',
      c: 'approval per tool',
      d: 'structured output',
      e: 'streaming',
      f: 'context window and summary',
    },
  },
  {
    id: 'E2',
    title: 'Models',
    parts: {
      a: 'any AI SDK language model',
      b: 'OpenAI-compatible endpoints, with streaming and tool calls',
      c: "the browser's own Prompt API",
      d: 'a model in the page',
      e: 'a deterministic built-in model, with no network',
      f: 'fallback chains',
      g: 'API keys live in the key ring, never in state',
    },
  },
  { id: 'E3', title: 'MCP: tools of a Streamable HTTP server, from the worker' },
  {
    id: 'E4',
    title: "Author's test kit",
    parts: {
      a: 'an agent runs under a manual clock with a scripted model',
      b: 'an agent is crashed at every boundary',
      c: 'a test of ten lines asserts on effects',
    },
  },
  { id: 'E5', title: 'Multi-agent: an agent as a tool of another, on child threads' },
  {
    id: 'F1',
    title: 'AI SDK',
    parts: { a: 'a transport for useChat', b: 'it reconnects after a reload' },
  },
  {
    id: 'F2',
    title: 'React',
    parts: { a: 'a store that needs no framework', b: 'a hook on top of it' },
  },
  { id: 'F3', title: "LangGraph: a checkpoint saver that passes LangGraph's own suite" },
  { id: 'F4', title: 'AG-UI: an event stream that its official client accepts' },
  {
    id: 'F5',
    title: 'Telemetry',
    parts: {
      a: 'OpenTelemetry GenAI spans and metrics',
      b: 'Prometheus text: threads started and resumed, retries per step, commit latency, resume success',
      c: 'alert rules and a Grafana dashboard',
    },
  },
  {
    id: 'F6',
    title: 'Alerts',
    parts: {
      a: 'a JSON webhook for permanent failure and waiting approvals',
      b: 'Slack and WeCom',
      c: 'browser notifications',
    },
  },
  {
    id: 'F7',
    title: 'HTTP API',
    parts: {
      a: 'start, resume, approve and inspect threads, described by OpenAPI',
      b: 'server-sent events',
      c: 'an external-task worker for BPMN engines',
    },
  },
  {
    id: 'F8',
    title: 'Inspector',
    parts: {
      a: 'threads and their time line of checkpoints',
      b: 'state, diff and effects ledger',
      c: 'approvals, fork and roll back',
      d: 'charts of commit latency and sizes',
    },
  },
  {
    id: 'G1',
    title: 'Stores',
    parts: {
      a: 'memory and IndexedDB pass one suite, and memory says that it is not durable',
      b: 'SQLite and file directory pass it',
      c: 'Redis and PostgreSQL pass it, in tables of their own',
      d: 'object storage passes it, with metadata elsewhere',
      e: 'Durable Objects pass it',
      f: 'every store holds sealed bytes only',
    },
  },
  {
    id: 'G2',
    title: 'Several runners',
    parts: {
      a: 'any number of processes serve threads from PostgreSQL',
      b: 'one killed at any moment loses nothing',
    },
  },
  {
    id: 'G3',
    title: 'Moving',
    parts: {
      a: 'a thread moves between browser, server and edge as sealed bytes, keys staying behind',
      b: 'a conflict is detected and nothing overwritten',
    },
  },
  { id: 'G4', title: 'Engine: threads as keyed objects on a distributed engine' },
];
