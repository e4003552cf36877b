import { Problem } from '@longwave/problems';
import { describeAnswer, type Answer, type PublicFetch } from '../../outside/public-fetch.ts';
import { startBytes } from './audio-format.ts';

/** A file of another host, as the host answers for it. */
export interface RemoteFile {
  /** Undefined when the host does not say. */
  readonly sizeBytes: number | undefined;
  readonly contentType: string | undefined;
  /** The host answered a range with just that range. */
  readonly takesRanges: boolean;
  /** The answer to HEAD. */
  readonly head: Answer;
  /** The first bytes of the file. */
  readonly start: Buffer;
}

const wholeNumber = (value: string | undefined) => (value && /^\d{1,15}$/.test(value) ? Number(value) : undefined);

/** Bytes of the whole file: from Content-Range, or from Content-Length of an answer without a range (RFC 9110, 14.4). */
function sizeOf(answer: Answer): number | undefined {
  if (answer.status === 206) return wholeNumber(/\/(\d+)$/.exec(answer.header('content-range') ?? '')?.[1]);
  return answer.status === 200 ? wholeNumber(answer.header('content-length')) : undefined;
}

/** A refusal in words, naming the field that holds the address. */
export const notFetchable = (path: string, detail: string) =>
  new Problem('media_not_fetchable', detail, { errors: [{ path, code: 'media_not_fetchable', detail }] });

/**
 * Requests a file outside the service by HEAD and by a read of its first bytes. Throws `media_not_fetchable` naming `path` unless the
 * read returns bytes; the caller judges the answer to HEAD.
 */
export async function probeRemoteFile(publicFetch: PublicFetch, url: string, path: string): Promise<RemoteFile> {
  const [head, read] = await Promise.all([
    publicFetch(url, { method: 'HEAD' }),
    publicFetch(url, { range: { start: 0, end: startBytes - 1 }, maxBytes: startBytes }),
  ]);
  if (read.status === 0)
    throw notFetchable(
      path,
      `There is nothing to fetch at this address. ${read.reason ?? 'The address does not answer.'}`,
    );
  if (![200, 206].includes(read.status))
    throw notFetchable(path, `The address answers with ${describeAnswer(read)}. Name a file that everybody may fetch.`);
  if (read.body.length === 0) throw notFetchable(path, 'The file at this address is empty.');
  return {
    sizeBytes: sizeOf(read) ?? sizeOf(head),
    contentType: read.header('content-type'),
    takesRanges: read.status === 206,
    head,
    start: read.body,
  };
}
