import { type DocumentFile, readDocument } from '../../src/demo/read-document.ts';

export interface ReadRequest {
  readonly id: number;
  readonly file: DocumentFile;
  /** Whether to give the reading up in the task after the one that began it. */
  readonly abortAtOnce?: boolean;
}

/** The text, or the error's code (its name if it has none). */
export interface ReadAnswer {
  readonly id: number;
  readonly outcome: { readonly text: string } | { readonly code: unknown };
}

addEventListener('message', ({ data }: MessageEvent<ReadRequest>) => {
  const answer = (outcome: ReadAnswer['outcome']) => postMessage({ id: data.id, outcome } satisfies ReadAnswer);
  const controller = new AbortController();
  if (data.abortAtOnce) setTimeout(() => controller.abort());
  readDocument(data.file, controller.signal).then(
    (text) => answer({ text }),
    (error: unknown) => answer({ code: codeOf(error) }),
  );
});

function codeOf(error: unknown): unknown {
  if (!(error instanceof Error)) return String(error);
  return error.name === 'DocumentError' && 'code' in error ? error.code : error.name;
}
