/** Faults of a source file, as a production, creative or podcast part reports them. */
export type MediaFaultCode =
  | 'media_empty'
  | 'media_not_audio'
  | 'media_truncated'
  | 'media_without_picture'
  | 'media_unsupported_codec'
  | 'media_picture_beyond_limits'
  | 'media_size_mismatch'
  | 'media_checksum_mismatch'
  | 'media_not_fetchable'
  | 'media_not_as_declared'
  | 'artwork_not_acceptable'
  | 'encoder_failed';

/** The file itself is at fault: trying again cannot help. The message is for the podcaster and says what to do. */
export class MediaFault extends Error {
  readonly code: MediaFaultCode;

  constructor(code: MediaFaultCode, detail: string, cause?: unknown) {
    super(detail, cause === undefined ? undefined : { cause });
    this.name = 'MediaFault';
    this.code = code;
  }
}
