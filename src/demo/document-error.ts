export type DocumentErrorCode =
  | 'document_empty'
  | 'document_too_large'
  | 'document_unreadable'
  | 'document_type_unknown'
  | 'document_reader_missing';

/** Why a file could not be read; the message says what to do next. Only `document_reader_missing` may pass by itself. */
export class DocumentError extends Error {
  override readonly name = 'DocumentError';
  readonly code: DocumentErrorCode;

  constructor(code: DocumentErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}
