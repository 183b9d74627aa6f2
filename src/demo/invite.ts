import { done, notDone, Refusal, type Tool, type ToolCall, tool } from 'holdfast';
import * as z from 'zod';
import { Invitation } from './screening-state.ts';

/** What the outbox says of a message that went out. `null` where only a person knows of it. */
const Receipt = z.object({ id: z.string().nullable(), receivedAt: z.string().nullable() });
type Receipt = z.infer<typeof Receipt>;

const Closed = z.object({ delivered: Receipt.nullable() });
const OutboxFault = z.object({ error: z.string(), message: z.string() });

/**
 * Sends one invitation through the outbox at `outboxUrl`. The effect key goes along, so that the outbox can be asked after a
 * crash what became of it. Each name is a tool of its own: what a person allowed for all calls of one is not allowed for another.
 */
export function inviteTool<Name extends string>(
  name: Name,
  outboxUrl: string,
  hint = '',
): Tool<Name, Invitation, Receipt> {
  return tool({
    name,
    description: 'Sends one applicant an invitation to an interview.',
    input: Invitation,
    effect: 'once',
    approval: 'always',
    reason: ({ why }) => `${hint}${why}`,
    async run({ to, subject, body }, call) {
      const headers = { 'idempotency-key': call.effectKey, 'x-attempt': String(call.attempt) };
      const response = await post(`${outboxUrl}/outbox/messages`, { to, subject, body }, call, headers);
      if (!response.ok) throw await faultOf(response);
      return Receipt.parse(await response.json());
    },
    /** Closes the key against the attempt in doubt: after that the answer stays true. */
    async verify(_invitation, call) {
      const key = encodeURIComponent(call.effectKey);
      const response = await post(`${outboxUrl}/outbox/keys/${key}/close`, { attempt: call.attempt }, call);
      if (!response.ok) throw await faultOf(response);
      const { delivered } = Closed.parse(await response.json());
      return delivered === null ? notDone({ closed: true }) : done(delivered);
    },
  });
}

function post(
  url: string,
  body: unknown,
  { abortSignal }: ToolCall,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    signal: abortSignal,
  });
}

/** A refusal only where the outbox itself says that it took nothing; anything else leaves it open what happened. */
async function faultOf(response: Response): Promise<Error> {
  const fault = OutboxFault.safeParse(await response.json().catch(() => null)); // no JSON: not the outbox that answered
  if (fault.success && response.status >= 400 && response.status < 500) {
    return new Refusal(fault.data.message, { retry: fault.data.error === 'attempt_closed' });
  }
  const message = fault.success ? fault.data.message : 'Is it running?';
  return new Error(`The outbox answered with status ${response.status}. ${message}`);
}
