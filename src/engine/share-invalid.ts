import type { ShareRights } from '../codec/shares.ts';
import { rareEngineErrors } from './rare-errors.ts';

const known: readonly ShareRights[] = ['read', 'write', 'none'];

/** A share with rights that nobody knows would open to nobody, and look as if it did. @throws `share_invalid` */
export function checkShare(owner: unknown, rights: ShareRights): void {
  if (typeof owner !== 'string') throw rareEngineErrors.make('share_invalid', { problem: 'its owner is not a text' });
  if (known.includes(rights)) return;
  const problem = `there are no rights "${String(rights)}"; there are ${known.join(', ')}`;
  throw rareEngineErrors.make('share_invalid', { problem });
}
