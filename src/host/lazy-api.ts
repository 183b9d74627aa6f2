import { type HostApi, type HostMethods, hostMethods } from '../protocol/host-api.ts';
import { replyOf } from '../protocol/reply.ts';
import { checkCall } from './checked-call.ts';

/**
 * The API of a host that is still opening: calls wait for it, and errors become data. If opening fails, each call gets the
 * reason, and the next one tries again; so does the first one after a close, of whoever connects to the same port then.
 */
export function lazyApi(open: () => Promise<HostMethods>): HostApi {
  let opening: Promise<HostMethods> | undefined;
  const opened = (): Promise<HostMethods> => {
    opening ??= open().catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return opening;
  };
  const through =
    (name: keyof HostMethods) =>
    (...args: readonly unknown[]) =>
      replyOf(async () => {
        checkCall(name, args);
        const methods = await opened();
        if (name === 'close') opening = undefined;
        return (methods[name] as (...given: readonly unknown[]) => unknown)(...args);
      });
  return Object.fromEntries(hostMethods.map((name) => [name, through(name)])) as unknown as HostApi;
}
