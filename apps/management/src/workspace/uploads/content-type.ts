import { lookup } from 'mime-types';

/** Extensions that the table of `mime-types` lacks, or names by an older type. */
const own: ReadonlyMap<string, string> = new Map(
  Object.entries({
    flac: 'audio/flac',
    opus: 'audio/opus',
    w64: 'audio/x-w64',
  }),
);

/** Sound, moving and still pictures, transcripts and chapters. Whether a file can be read is found out where it is used. */
const useful = /^((audio|video)\/|image\/(?!svg\+xml$)|(application\/(json|ogg|x-subrip)|text\/vtt)$)/;

/** The content type of a file name by its extension, or undefined when none is known that the service has a use for. */
export function contentTypeOf(filename: string): string | undefined {
  const at = filename.lastIndexOf('.');
  if (at < 0) return undefined;
  const extension = filename.slice(at + 1).toLowerCase();
  const type = own.get(extension) ?? (lookup(extension) || undefined);
  return type !== undefined && useful.test(type) ? type : undefined;
}
