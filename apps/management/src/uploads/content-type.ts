/** File extension → content type of everything the service takes. */
const contentTypes: ReadonlyMap<string, string> = new Map(
  Object.entries({
    aac: 'audio/aac',
    flac: 'audio/flac',
    jpeg: 'image/jpeg',
    jpg: 'image/jpeg',
    json: 'application/json',
    m4a: 'audio/mp4',
    m4v: 'video/x-m4v',
    mov: 'video/quicktime',
    mp3: 'audio/mpeg',
    mp4: 'video/mp4',
    ogg: 'audio/ogg',
    opus: 'audio/opus',
    png: 'image/png',
    srt: 'application/x-subrip',
    vtt: 'text/vtt',
    wav: 'audio/wav',
  }),
);

/** The content type of a file name by its extension, or undefined when there is none known. */
export function contentTypeOf(filename: string): string | undefined {
  const at = filename.lastIndexOf('.');
  return at < 0 ? undefined : contentTypes.get(filename.slice(at + 1).toLowerCase());
}
