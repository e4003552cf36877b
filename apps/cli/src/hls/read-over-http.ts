import { createGuardedFetch, readAll, readStart } from '@longwave/guarded-fetch';
import { askingOrigin, type Extent, type ReadResource, type ResourceKind } from '@longwave/hls-profile';
import { isLoopbackName } from '@longwave/service-kit';
import { describeBytes } from '../checks/sizes.ts';

const mb = 1024 ** 2;

/** The most bytes of one answer. */
const maxBytes: Readonly<Record<ResourceKind, number>> = {
  playlist: 16 * mb,
  'asset list': mb,
  chapters: 4 * mb,
  captions: 16 * mb,
  media: 256 * mb,
};

/** The most bytes of all answers. */
const maxBytesOf: Readonly<Record<Extent, number>> = { sample: 2048 * mb, all: 204_800 * mb };

/** For one answer, in milliseconds. */
const timeoutMs = 120_000;

/** Says that it is no listener: hosts do not count programs that call themselves bots. */
export const botUserAgent = 'Longwave-HLS-Check/1.0 (bot)';

/**
 * Reads over HTTP what the playlists at an address name: from the host of that address, also on this machine or in a private network, and
 * from every other host over https at a public address, because who wrote the playlists may be anybody.
 * @param start the address that a person typed
 * @param options.userAgent `User-Agent` of every request
 * @param options.onRead called after each answer with the number of answers and the bytes of all
 */
export function createHttpReader(
  start: URL,
  {
    extent,
    userAgent,
    onRead,
  }: {
    readonly extent: Extent;
    readonly userAgent: string;
    readonly onRead: (answers: number, bytes: number) => void;
  },
): ReadResource {
  let [answers, bytes] = [0, 0];

  function fetchFor(url: URL) {
    const isNear = url.hostname === start.hostname || (isLoopbackName(start.hostname) && isLoopbackName(url.hostname));
    if (!isNear && (url.protocol !== 'https:' || url.port !== ''))
      throw new Error(`It is at ${url.origin}, another host, which must have https and its standard port.`);
    return createGuardedFetch({
      allowOrigins: isNear ? [start.origin, url.origin] : [start.origin],
      userAgent,
    });
  }

  return async ({ url, kind, range }) => {
    const most = maxBytes[kind];
    if (range && range.length > most)
      throw new Error(`These are more than ${describeBytes(most)}, the most that is read.`);
    if (bytes >= maxBytesOf[extent])
      throw new Error(`It was not read: ${describeBytes(maxBytesOf[extent])} were read before.`);
    using answer = await fetchFor(new URL(url))(url, {
      headers: { origin: askingOrigin },
      // An answer with the whole file in place of a range is not read.
      maxBytes: range ? Number.MAX_SAFE_INTEGER : most,
      timeoutMs,
      ...(range && { range: `bytes=${range.offset}-${range.offset + range.length - 1}` }),
    });
    const { status, headers, finalUrl } = answer;
    const isExpected = status === (range ? 206 : 200);
    const body = isExpected ? await (range ? readStart(answer, range.length + 1) : readAll(answer)) : new Uint8Array();
    answers += 1;
    bytes += body.length;
    onRead(answers, bytes);
    return { url: finalUrl, status, headers, body };
  };
}
