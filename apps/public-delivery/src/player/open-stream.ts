import type { MediaSource as Source, MediaSourceClass, Sound, TimeRanges } from './browser.ts';
import { parseMedia, parseMultivariant, type ByteSpan, type MediaPlaylist } from './playlists.ts';
import { nextSegment, staleSpans, type Span } from './schedule.ts';

declare const MediaSource: MediaSourceClass | undefined;
declare const URL: { createObjectURL(source: Source): string; revokeObjectURL(url: string): void };

/** A presentation that plays in a media element. */
export interface Stream {
  readonly media: MediaPlaylist;
  /** Call it when more may be loaded than before. */
  wake(): void;
  close(): void;
}

const manyTries = 4;
const firstPauseMs = 500;
const requestMs = 10_000;

const typeOf = (codecs: string) => `audio/mp4;codecs="${codecs}"`;

/** Whether the browser plays the sound of presentations from memory. */
export const canStream = (): boolean =>
  typeof MediaSource !== 'undefined' && MediaSource.isTypeSupported(typeOf('mp4a.40.2'));

/** Gets a file or a span of it; again when the network or the server fails, not when the answer is a refusal. */
async function get(
  url: string,
  signal: AbortSignal,
  { span, maxTries = manyTries }: { readonly span?: ByteSpan; readonly maxTries?: number } = {},
): Promise<{ readonly url: string; readonly bytes: ArrayBuffer }> {
  const headers = span && { range: `bytes=${span.offset}-${span.offset + span.length - 1}` };
  for (let tries = 1; ; tries += 1) {
    let status: number;
    try {
      const answer = await fetch(url, {
        signal: AbortSignal.any([signal, AbortSignal.timeout(requestMs)]),
        ...(headers && { headers }),
      });
      ({ status } = answer);
      const bytes = answer.ok ? await answer.arrayBuffer() : undefined;
      if (bytes && (!span || bytes.byteLength === span.length)) return { url: answer.url, bytes };
    } catch {
      status = 500;
    }
    if (signal.aborted || tries === maxTries || status < 500) throw new Error(`${status}`);
    await new Promise((resolve) => setTimeout(resolve, firstPauseMs * 2 ** (tries - 1)));
  }
}

export async function getText(
  url: string,
  signal: AbortSignal,
  maxTries = manyTries,
): Promise<{ readonly url: string; readonly text: string }> {
  const answer = await get(url, signal, { maxTries });
  return { url: answer.url, text: new TextDecoder().decode(answer.bytes) };
}

const next = (target: EventTarget, name: string) =>
  new Promise((resolve) => target.addEventListener(name, resolve, { once: true }));

const spansOf = (ranges: TimeRanges): Span[] =>
  Array.from({ length: ranges.length }, (_, index) => [ranges.start(index), ranges.end(index)]);

/**
 * Reads the playlists of a presentation and plays its sound in a media element: segments are loaded while they are heard.
 * @param limitOf seconds of the content that may be loaded now
 * @param onFail called once when it cannot be continued
 * @throws when there is no such presentation
 */
export async function openStream(
  sound: Sound,
  mainUrl: string,
  limitOf: (media: MediaPlaylist) => number,
  onFail: (error: unknown) => void,
): Promise<Stream> {
  const closing = new AbortController();
  const { signal } = closing;
  const main = await getText(mainUrl, signal);
  const { url, codecs } = parseMultivariant(main.text, main.url);
  const playlist = await getText(url, signal);
  const media = parseMedia(playlist.text, playlist.url);
  if (typeof MediaSource === 'undefined') throw new Error('no MediaSource');
  const source = new MediaSource();
  const objectUrl = URL.createObjectURL(source);
  sound.src = objectUrl;
  await next(source, 'sourceopen');
  URL.revokeObjectURL(objectUrl);
  const buffer = source.addSourceBuffer(typeOf(codecs));
  const last = media.segments.at(-1)!;
  source.duration = last.end;

  let wake = () => undefined as void;
  const woken = () => new Promise<void>((resolve) => (wake = resolve));
  const onChange = () => wake();
  for (const name of ['timeupdate', 'seeking']) sound.addEventListener(name, onChange, { signal });
  const close = () => {
    closing.abort();
    wake();
  };

  const change = async (begin: () => void) => {
    const ended = next(buffer, 'updateend');
    begin();
    await ended;
  };
  const append = async (span: ByteSpan) => {
    const { bytes } = await get(span.url, signal, { span });
    if (!signal.aborted) await change(() => buffer.appendBuffer(bytes));
  };
  async function load(): Promise<void> {
    await append(media.init);
    while (!signal.aborted) {
      const loaded = spansOf(buffer.buffered);
      const segment = nextSegment(media.segments, loaded, sound.currentTime, limitOf(media));
      if (segment) {
        await append(segment);
        for (const [from, to] of staleSpans(spansOf(buffer.buffered), sound.currentTime))
          await change(() => buffer.remove(from, to));
      } else {
        const isWhole = loaded.some(([, to]) => to > last.end - 0.05) && limitOf(media) === Infinity;
        if (isWhole && source.readyState === 'open') source.endOfStream();
        await woken();
      }
    }
  }
  load().catch((error: unknown) => {
    if (signal.aborted) return;
    close();
    onFail(error);
  });
  return { media, wake: onChange, close };
}
