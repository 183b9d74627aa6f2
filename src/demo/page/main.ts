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

/** Parameters of the page's address that are the worker's. */
const passedOn = ['database', 'latencyMs', 'outbox'] as const;

/** Starts the page; `workerUrl` is the script of worker/screening.worker.ts. */
export function start(workerUrl: string): void {
  trustOwnScripts();
  const url = new URL(workerUrl, location.href);
  const given = new URL(location.href).searchParams;
  for (const name of passedOn) {
    const value = given.get(name);
    if (value !== null) url.searchParams.set(name, value);
  }
  new App(url.href);
}
