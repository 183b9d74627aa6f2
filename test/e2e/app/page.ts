import { connect, type StreamMessage } from 'holdfast';
import type { courier } from './agent.ts';

/** `?resume=on-request` reaches the worker as its name. */
const resume = new URL(location.href).searchParams.get('resume') ?? 'auto';
let worker: Worker | undefined;

const agent = connect<typeof courier>(() => {
  worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module', name: resume });
  return worker;
});
const thread = agent.thread('letters');

async function show(): Promise<void> {
  for await (const message of thread.events()) note(message);
}

function note(message: StreamMessage): void {
  const status = document.querySelector('#status');
  if (status === null) return;
  if (message.type === 'view') status.textContent = message.view.status;
  if (message.type === 'status') status.textContent = message.status;
  if (message.type === 'blocked') status.textContent = `blocked: ${message.error.message}`;
  if (message.type === 'resumed') document.body.dataset.resumedAt = String(message.sequence);
  if (message.type === 'step') document.body.dataset.steps = String(message.step.sequence);
}

/** What the tests drive the page by. */
const controls = {
  start: (left: number) => thread.send({ left }, { dedupId: 'start' }),
  state: () => thread.state(),
  view: () => thread.view(),
  effects: () => thread.effects(),
  resume: () => thread.resume(),
  terminateWorker: () => worker?.terminate(),
};

declare global {
  interface Window {
    controls?: typeof controls;
  }
}

window.controls = controls;
void show();
