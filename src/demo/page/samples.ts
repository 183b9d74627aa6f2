import type { SampleFile } from '../samples/index.ts';

/** @throws if the server does not have it. */
export async function fetchSample({ name, url }: SampleFile): Promise<File> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`The sample ${name} could not be loaded (${response.status}). Reload the page.`);
  return new File([await response.blob()], name, { lastModified: 0 });
}
