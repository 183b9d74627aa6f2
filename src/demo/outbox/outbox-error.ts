/** A request that the outbox refuses: `status` for HTTP, `code` for programs, the message for people. */
export class OutboxError extends Error {
  override readonly name = 'OutboxError';
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.status = status;
    this.code = code;
  }
}
