import type { Hints } from './ports.ts';

/** Hints through a BroadcastChannel. A message carries a thread's hash and nothing else: no frame goes to another tab (PROTOCOL 8). */
export function broadcastHints(database: string): Hints {
  const channel = new BroadcastChannel(`holdfast:${database}`);
  return {
    post: (thread) => channel.postMessage(thread),
    listen: (onHint) => {
      channel.onmessage = ({ data }: MessageEvent<unknown>) => {
        if (typeof data === 'string') onHint(data);
      };
    },
    close: () => channel.close(),
  };
}

export const noHints: Hints = { post: () => undefined, listen: () => undefined, close: () => undefined };
