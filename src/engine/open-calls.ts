import { programErrors } from '../program/errors.ts';
import { isBlocking } from './run-end.ts';

/**
 * The calls of one run of a node that are under way. An error that stops the thread stops it even where the node catches it:
 * otherwise a node with a fallback would hide a mismatch, or take a store that is full for a tool that failed.
 */
export class OpenCalls {
  readonly #running = new Set<{ readonly name: string }>();
  #blocked: { readonly by: unknown } | undefined;
  #endedNode: string | undefined;

  /** The node returned, or threw: what it calls from here on is not made. */
  nodeEnded(node: string): void {
    this.#endedNode = node;
  }

  /** @throws `call_not_awaited` where the node has ended. */
  refuseLate(call: string): void {
    if (this.#endedNode !== undefined) throw programErrors.make('call_not_awaited', { node: this.#endedNode, call });
  }

  /** @throws what stopped an earlier call of this node, before anything is done. */
  async track<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    this.throwIfBlocked();
    const call = { name };
    this.#running.add(call);
    try {
      return await work();
    } catch (error) {
      if (isBlocking(error)) this.#blocked ??= { by: error };
      throw error;
    } finally {
      this.#running.delete(call);
    }
  }

  throwIfBlocked(): void {
    if (this.#blocked !== undefined) throw this.#blocked.by;
  }

  /** The error that stops the thread, if there is one. */
  get blockedBy(): unknown {
    return this.#blocked?.by;
  }

  /** Called when the node returned. @throws `call_not_awaited` */
  refuseRunning(node: string): void {
    for (const { name } of this.#running) throw programErrors.make('call_not_awaited', { node, call: name });
  }
}
