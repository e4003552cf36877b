import type { PreparedAd, PreparedAudio } from './book-campaign.ts';
import { sha256 } from './sha256.ts';

/** An ordinary podcast app; each version of it is another listener. */
export const listenerAgentOf = (version: number): string => `AntennaPod/3.5.${version}`;
export const listenerAgent = listenerAgentOf(0);

/** The file has no ad: on a busy machine the ad decision comes after the time that a listener is made to wait. */
export class NoAd extends Error {}

export interface Download {
  readonly status: number;
  readonly mediaUrl: string;
  readonly etag: string;
  readonly bytes: Buffer;
  /** The user agent that it was given to. */
  readonly agent: string;
}

/** Downloads an enclosure as a podcast app does: follow the redirect, take everything. */
export async function download(enclosureUrl: string, agent = listenerAgent): Promise<Download> {
  const headers = { 'user-agent': agent };
  const redirect = await fetch(enclosureUrl, { headers, redirect: 'manual' });
  const mediaUrl = redirect.headers.get('location');
  if (redirect.status !== 302 || !mediaUrl) throw new Error(`the enclosure answered ${redirect.status} instead of 302`);
  const response = await fetch(new URL(mediaUrl, enclosureUrl), { headers });
  const bytes = Buffer.from(await response.arrayBuffer());
  if (Number(response.headers.get('content-length')) !== bytes.length)
    throw new Error('Content-Length is not the length of the body');
  return {
    status: response.status,
    mediaUrl: new URL(mediaUrl, enclosureUrl).href,
    etag: response.headers.get('etag') ?? '',
    bytes,
    agent,
  };
}

interface Part {
  readonly kind: string;
  readonly duration_ms: number;
  readonly bytes: number;
}

export interface DissectedFile {
  readonly parts: readonly Part[];
  /** The stream that is heard. */
  readonly ad: PreparedAd;
}

/** Finds header, ad and content in the bytes themselves: both segments must stand there whole, byte for byte; of the ad one stream. */
export function dissect(bytes: Buffer, streams: readonly PreparedAd[], content: PreparedAudio): DissectedFile {
  const header = bytes.length - streams[0]!.size_bytes - content.size_bytes;
  if (header < 10 && sha256(bytes.subarray(-content.size_bytes)) === content.sha256)
    throw new NoAd('the file has no ad: the ad decision came too late, as on a busy machine. Try again.');
  if (header < 10 || bytes.subarray(0, 3).toString('latin1') !== 'ID3')
    throw new Error(`no ID3 header before the audio (${header} bytes left over)`);
  const found = sha256(bytes.subarray(header, header + streams[0]!.size_bytes));
  const ad = streams.find((stream) => stream.sha256 === found);
  if (!ad) throw new Error('the ad is not stitched byte for byte');
  if (sha256(bytes.subarray(header + ad.size_bytes)) !== content.sha256)
    throw new Error('the content is not stitched byte for byte');
  const parts = [
    { kind: 'header', duration_ms: 0, bytes: header },
    { kind: 'ad', duration_ms: ad.duration_ms, bytes: ad.size_bytes },
    { kind: 'content', duration_ms: content.duration_ms, bytes: content.size_bytes },
  ];
  return { parts, ad };
}

/** Asks for ranges, HEAD, If-Range and an impossible range; every answer must be the slice of the whole. Answers how many. */
export async function checkRanges(whole: Download, joints: readonly number[]): Promise<number> {
  const { bytes, mediaUrl, etag, agent } = whole;
  const get = (headers: Record<string, string>, method = 'GET') =>
    fetch(mediaUrl, { method, headers: { 'user-agent': agent, ...headers } });
  const last = bytes.length - 1;
  const ranges: (readonly [number, number])[] = [
    [0, 0],
    [0, last],
    [last, last],
  ];
  for (const joint of joints)
    ranges.push(
      [Math.max(0, joint - 1), Math.min(last, joint)],
      [Math.max(0, joint - 500), Math.min(last, joint + 500)],
    );
  // A fixed walk over the file: the same ranges in every run.
  for (let i = 1; i <= 24; i++) {
    const from = Math.floor((bytes.length * ((i * 37) % 101)) / 101);
    ranges.push([from, Math.min(last, from + i * 997)]);
  }
  for (const [from, to] of ranges) {
    const response = await get({ range: `bytes=${from}-${to}` });
    const slice = Buffer.from(await response.arrayBuffer());
    if (response.status !== 206 || response.headers.get('content-range') !== `bytes ${from}-${to}/${bytes.length}`)
      throw new Error(`range ${from}-${to} answered ${response.status} ${response.headers.get('content-range')}`);
    if (!slice.equals(bytes.subarray(from, to + 1)))
      throw new Error(`range ${from}-${to} is not the slice of the whole`);
  }
  const suffix = Buffer.from(await (await get({ range: 'bytes=-777' })).arrayBuffer());
  if (!suffix.equals(bytes.subarray(-777))) throw new Error('the suffix range is not the end of the whole');
  const kept = await get({ range: 'bytes=10-19', 'if-range': etag });
  if (kept.status !== 206 || !Buffer.from(await kept.arrayBuffer()).equals(bytes.subarray(10, 20)))
    throw new Error('If-Range with the ETag did not give the range');
  const changed = await get({ range: 'bytes=10-19', 'if-range': '"another"' });
  await changed.body?.cancel();
  if (changed.status !== 200) throw new Error('If-Range with another ETag did not give the whole');
  const outside = await get({ range: `bytes=${bytes.length}-` });
  if (outside.status !== 416 || outside.headers.get('content-range') !== `bytes */${bytes.length}`)
    throw new Error(`a range outside answered ${outside.status}`);
  await outside.body?.cancel();
  const head = await get({}, 'HEAD');
  if (
    head.status !== 200 ||
    Number(head.headers.get('content-length')) !== bytes.length ||
    head.headers.get('etag') !== etag
  )
    throw new Error('HEAD differs from GET');
  return ranges.length + 5;
}
