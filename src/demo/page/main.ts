import './tokens.css';
import './layout.css';
import './parts.css';
import './thread-line.css';
import './thread-list.css';
import './start.css';
import './run.css';
import './approvals.css';
import './report.css';
import './details.css';
import { trustOwnScripts } from '../trusted-types.ts';
import { App } from './app.ts';

/** Parameters of the page's address that are the worker's: by its name, for its parts import it by its plain URL. */
const passedOn: readonly string[] = ['database', 'latencyMs', 'outbox'];

/** Starts the page; `workerUrl` is the script of worker/screening.worker.ts. */
export function start(workerUrl: string): void {
  trustOwnScripts();
  const given = new URL(location.href).searchParams;
  const workerName = new URLSearchParams([...given].filter(([name]) => passedOn.includes(name)));
  new App(workerUrl, String(workerName));
}
