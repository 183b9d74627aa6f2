import { shown } from '../base/text.ts';
import type { ShareRights } from '../codec/shares.ts';
import { threadIdProblem } from '../model/ids.ts';
import { rareEngineErrors } from './rare-errors.ts';

const known: readonly ShareRights[] = ['read', 'write', 'none'];

/** A share with rights that nobody knows would open to nobody, and look as if it did. @throws `share_invalid` */
export function checkShare(owner: unknown, rights: ShareRights): void {
  const odd = typeof owner === 'string' ? threadIdProblem(owner) : 'it is not a text';
  if (odd !== undefined) throw rareEngineErrors.make('share_invalid', { problem: `its owner cannot be used: ${odd}` });
  if (known.includes(rights)) return;
  const problem = `there are no rights ${shown(rights)}; there are ${known.join(', ')}`;
  throw rareEngineErrors.make('share_invalid', { problem });
}
