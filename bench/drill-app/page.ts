/** Runs the screening workflow on the samples and allows every invitation. `?without` runs it with checkpoints off. */
import { connect } from 'holdfast';
import { type SampleFile, sampleApplications, sampleJob } from '../../src/demo/samples/index.ts';
import type { Screening } from '../../src/demo/screening.ts';

const parameters = new URL(location.href).searchParams;
const name = parameters.get('outbox') ?? '';

const agent = connect<Screening>(() =>
  parameters.has('without')
    ? new Worker(new URL('./worker-without.ts', import.meta.url), { type: 'module', name })
    : new Worker(new URL('./worker.ts', import.meta.url), { type: 'module', name }),
);
const thread = agent.thread('drill');

async function fileOf({ name: fileName, url }: SampleFile): Promise<File> {
  return new File([await (await fetch(url)).blob()], fileName);
}

async function run(): Promise<void> {
  if ((await thread.view()) === null) {
    const [jobFile, ...files] = await Promise.all([sampleJob, ...sampleApplications].map(fileOf));
    if (jobFile !== undefined) await thread.send({ jobFile, files }, { dedupId: 'start' });
  }
  for await (const message of thread.events()) {
    const isOpen = message.type === 'wait' || (message.type === 'view' && message.view.waits.length > 0);
    if (isOpen) for (const wait of await thread.waits()) await wait.allow();
    const view = message.type === 'view' ? message.view : undefined;
    const status = view?.status ?? (message.type === 'status' ? message.status : undefined);
    if (message.type === 'blocked') document.body.dataset.end = `blocked: ${message.error.message}`;
    if (status === 'done') {
      const { outcomes, ranking, invitations, summary } = await thread.state();
      document.body.dataset.result = JSON.stringify({ outcomes, ranking, invitations, summary });
    }
    if (status === 'done' || status === 'failed' || status === 'cancelled') {
      document.body.dataset.end = status;
      return;
    }
  }
}

run().catch((error: unknown) => {
  document.body.dataset.end = `error: ${error instanceof Error ? error.message : String(error)}`;
});
