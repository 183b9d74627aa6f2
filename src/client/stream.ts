import { transfer } from 'comlink';
import type { StreamMessage } from '../protocol/host-api.ts';
import type { Connection } from './connection.ts';

/**
 * The live stream of a thread: the whole view first, then what happens. Ends when the connection is closed; leaving the loop
 * early stops it. When the worker is lost and can be replaced, the stream goes on with a fresh view.
 */
export async function* streamOf(
  connection: Connection,
  thread: string,
): AsyncGenerator<StreamMessage, void, undefined> {
  for (;;) {
    const { port1, port2 } = new MessageChannel();
    const waiting: StreamMessage[] = [];
    let isGone = false;
    let wake: () => void = () => undefined;
    port1.onmessage = ({ data }: MessageEvent<StreamMessage>) => {
      waiting.push(data);
      wake();
    };
    try {
      await connection.call((remote) => remote.watch(thread, transfer(port2, [port2])));
      void connection.whenGone().then(() => {
        isGone = true;
        wake();
      });
      while (!isGone || waiting.length > 0) {
        const message = waiting.shift();
        if (message !== undefined) yield message;
        else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
    } finally {
      port1.postMessage('stop');
      port1.close();
    }
    if (!connection.canRestart) return;
  }
}
