/** Faults of a source file, as a production or creative reports them. */
export type MediaFaultCode =
  | 'media_empty'
  | 'media_not_audio'
  | 'media_truncated'
  | 'media_unsupported_codec'
  | 'media_size_mismatch'
  | 'encoder_failed';

/** The file itself is at fault: trying again cannot help. The message is for the podcaster and says what to do. */
export class MediaFault extends Error {
  readonly code: MediaFaultCode;

  constructor(code: MediaFaultCode, detail: string) {
    super(detail);
    this.name = 'MediaFault';
    this.code = code;
  }
}
