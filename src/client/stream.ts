import { transfer } from 'comlink';
import { HoldfastError } from '../base/errors.ts';
import type { StreamMessage } from '../protocol/host-api.ts';
import type { Connection } from './connection.ts';

/**
 * The live stream of a thread: the whole view first, then what happens. Ends when the connection is closed, and at once when
 * it is returned from, also while nothing happens. When the worker is lost and can be replaced, it goes on with a fresh view.
 */
export function streamOf(connection: Connection, thread: string): AsyncGenerator<StreamMessage, void, undefined> {
  const stopping = new AbortController();
  const messages = messagesOf(connection, thread, stopping.signal);
  // A generator that waits for its next message does not hear of `return` by itself.
  const stop = messages.return.bind(messages);
  messages.return = (value) => {
    stopping.abort();
    return stop(value);
  };
  return messages;
}

async function* messagesOf(
  connection: Connection,
  thread: string,
  signal: AbortSignal,
): AsyncGenerator<StreamMessage, void, undefined> {
  /** A worker that replaces a lost one may fail to start as well: others follow. */
  const passing = ['worker_gone'];
  while (!signal.aborted) {
    const { port1, port2 } = new MessageChannel();
    const waiting: StreamMessage[] = [];
    let wake: () => void = () => undefined;
    port1.onmessage = ({ data }: MessageEvent<StreamMessage>) => {
      waiting.push(data);
      wake();
    };
    try {
      await connection.call((remote) => remote.watch(thread, transfer(port2, [port2])));
      passing.push('worker_failed');
      let isGone = false;
      void connection.whenGone().then(() => {
        isGone = true;
        wake();
      });
      signal.addEventListener('abort', () => wake(), { once: true });
      while (!signal.aborted && (!isGone || waiting.length > 0)) {
        const message = waiting.shift();
        if (message !== undefined) yield message;
        else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
    } catch (error) {
      const isLost = error instanceof HoldfastError && passing.includes(error.code);
      if (!isLost || !connection.canRestart) throw error; // else: again, with the worker that replaces it
    } finally {
      port1.postMessage('stop');
      port1.close();
    }
    if (!connection.canRestart) return;
  }
}
