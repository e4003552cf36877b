/** A refusal that the client sees as S3's error document. `code` is S3's own word. */
export class S3Error extends Error {
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: string, message = code, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.name = 'S3Error';
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

/** True for a file system error of one of these codes (`ENOENT`, `EEXIST`, …). */
export function isSystemError(error: unknown, ...codes: readonly string[]): boolean {
  return codes.includes((error as NodeJS.ErrnoException | undefined)?.code ?? '');
}
