import type { VastErrorCode } from './vast-document.ts';

/** Ends the reading of a document or of one of its ads; `parseVast` makes a value of it. */
export class VastError extends Error {
  readonly code: VastErrorCode;

  constructor(code: VastErrorCode, reason: string) {
    super(reason);
    this.code = code;
  }
}
