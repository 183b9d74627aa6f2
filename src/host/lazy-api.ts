import type { HostApi, Reply } from '../protocol/host-api.ts';
import { replyOf } from '../protocol/reply.ts';

/**
 * The API of a host that is still opening: calls wait for it. If opening fails, each call gets the reason, and the next one
 * tries again.
 */
export function lazyApi(open: () => Promise<HostApi>): HostApi {
  let opening: Promise<HostApi> | undefined;
  const opened = (): Promise<HostApi> => {
    opening ??= open().catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return opening;
  };
  const through = async <Value>(call: (api: HostApi) => Promise<Reply<Value>>): Promise<Reply<Value>> => {
    const reply = await replyOf(opened);
    return reply.ok ? call(reply.value) : reply;
  };
  return {
    hello: () => through((api) => api.hello()),
    threads: () => through((api) => api.threads()),
    send: (thread, update, dedupId) => through((api) => api.send(thread, update, dedupId)),
    cancel: (thread, dedupId) => through((api) => api.cancel(thread, dedupId)),
    answer: (thread, wait, digest, answer) => through((api) => api.answer(thread, wait, digest, answer)),
    view: (thread) => through((api) => api.view(thread)),
    state: (thread, checkpoint) => through((api) => api.state(thread, checkpoint)),
    checkpoints: (thread, query) => through((api) => api.checkpoints(thread, query)),
    effects: (thread) => through((api) => api.effects(thread)),
    watch: (thread, port) => through((api) => api.watch(thread, port)),
    resume: (thread) => through((api) => api.resume(thread)),
    close: () => through((api) => api.close()),
  };
}
