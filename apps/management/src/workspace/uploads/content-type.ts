import { lookup } from 'mime-types';

/** Extensions that the table of `mime-types` lacks, or names by an older type. */
const own: ReadonlyMap<string, string> = new Map(
  Object.entries({
    flac: 'audio/flac',
    opus: 'audio/opus',
    w64: 'audio/x-w64',
  }),
);

/** Audio, video, images, transcripts, chapters and counts of others. The command that uses a file finds out whether it can be read. */
const useful = /^((audio|video)\/|image\/(?!svg\+xml$)|(application\/(json|ogg|x-subrip)|text\/(csv|vtt))$)/;

/** The content type of a file name by its extension, or undefined when the service cannot use such a file. */
export function contentTypeOf(filename: string): string | undefined {
  const at = filename.lastIndexOf('.');
  if (at < 0) return undefined;
  const extension = filename.slice(at + 1).toLowerCase();
  const type = own.get(extension) ?? (lookup(extension) || undefined);
  return type !== undefined && useful.test(type) ? type : undefined;
}
