import { serve } from 'holdfast/worker';
import { smallAgent } from '../host/small-agent.ts';

if (self.name.endsWith('-lists-later')) {
  const real = IDBDatabase.prototype.transaction;
  IDBDatabase.prototype.transaction = function refusedOnce(
    this: IDBDatabase,
    stores: string | Iterable<string>,
    ...rest
  ) {
    const names = typeof stores === 'string' ? [stores] : [...stores];
    if (!names.includes('threads')) return real.call(this, names, ...rest);
    IDBDatabase.prototype.transaction = real;
    throw new DOMException('the threads cannot be listed yet', 'UnknownError');
  };
}

self.addEventListener('message', ({ ports: [port] }: MessageEvent) => {
  if (port !== undefined) serve(smallAgent, { endpoint: port, database: self.name });
});
