/** What a restore is held against: opens a database and reads one record. With a number of bytes in its name it writes it. */
const [database = '', bytes] = self.name.split(' ');

const opening = indexedDB.open(database, 1);
opening.onupgradeneeded = () => opening.result.createObjectStore('records');
opening.onsuccess = () => {
  const records = (mode: IDBTransactionMode) => opening.result.transaction('records', mode).objectStore('records');
  const request = bytes === undefined ? records('readonly').get('one') : write(records('readwrite'), Number(bytes));
  request.transaction?.addEventListener('complete', () => {
    const found: unknown = request.result;
    self.postMessage(found instanceof Uint8Array ? found.length : Number(bytes ?? 0));
  });
};

function write(records: IDBObjectStore, length: number): IDBRequest {
  return records.put(new Uint8Array(length), 'one');
}
