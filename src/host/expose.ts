import type { HostApi } from '../protocol/host-api.ts';
import { replyOf } from '../protocol/reply.ts';

/** What a page's Comlink sends for a call, as far as it can be trusted. */
interface CallMessage {
  readonly id?: unknown;
  readonly type?: unknown;
  readonly path?: readonly unknown[];
  readonly argumentList?: unknown;
}

/**
 * Answers the calls that a page makes through Comlink (its `APPLY` messages), and nothing else: no other property of
 * anything can be named, read, set or made (decision 0010).
 */
export function exposeApi(api: HostApi, endpoint: MessagePort): void {
  endpoint.addEventListener('message', ({ data, origin }: MessageEvent<CallMessage | null>) => {
    // A worker's own page and a message port have the empty origin; messages from elsewhere have another.
    if (origin !== '' || data?.type !== 'APPLY' || !Array.isArray(data.path)) return;
    const { id, path, argumentList } = data;
    const given = Array.isArray(argumentList) ? (argumentList as readonly ({ readonly value?: unknown } | null)[]) : [];
    const [name] = path;
    const method = typeof name === 'string' && Object.hasOwn(api, name) ? api[name as keyof HostApi] : undefined;
    if (method === undefined || path.length !== 1) return;
    const answer = (value: unknown) => endpoint.postMessage({ id, type: 'RAW', value });
    const call = async () => {
      answer(await (method as (...args: readonly unknown[]) => unknown)(...given.map((each) => each?.value)));
    };
    // Arguments that are none, or an answer that could not be cloned.
    void call().catch(async (reason) => answer(await replyOf(() => Promise.reject(reason))));
  });
  endpoint.start?.(); // a port waits for it; a worker's own scope has none
}
