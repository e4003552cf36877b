import hls from 'hls-parser';

/** A break as its list answered it. */
interface HeardBreak {
  readonly id: string;
  /** Seconds of the content, intro included, before which it stands. */
  readonly atSeconds: number;
  /** Seconds of each ad. */
  readonly ads: readonly number[];
}

/** What a player got of an episode. */
export interface HeardByHls {
  /** Address of the multivariant playlist of the play, behind the redirect of the entry. */
  readonly mainUrl: string;
  /** Length of the content, intro and outro included, as its playlist says. */
  readonly seconds: number;
  /** Segments of the content, which were all read. */
  readonly segments: number;
  readonly breaks: readonly HeardBreak[];
}

export interface PlayByHlsOptions {
  /** Called with what was read of the content, 0 to 1. */
  readonly onProgress?: (fraction: number) => void;
  /** Takes the content's bytes in their order: the initialization section, then each segment. */
  readonly onContent?: (bytes: Buffer) => void;
}

const contentStartMs = Date.UTC(2020, 0, 1);

/**
 * Plays an episode to its end as a podcast app with HLS does: playlists, every segment by its range, and the ads of each break.
 * @param entryUrl the enclosure with `.m3u8` in place of `.mp3`
 * @throws an error that says which answer was not the expected one, without tokens
 */
export async function playByHls(
  entryUrl: string,
  userAgent: string,
  { onProgress, onContent }: PlayByHlsOptions = {},
): Promise<HeardByHls> {
  async function get(url: string, range?: { readonly offset: number; readonly length: number }) {
    const ranged = range && { range: `bytes=${range.offset}-${range.offset + range.length - 1}` };
    const answer = await fetch(url, { headers: { 'user-agent': userAgent, ...ranged } });
    if (answer.status !== (range ? 206 : 200)) throw new Error(`${answer.status} of ${url.replace(/t1\.[^/]+/, '…')}`);
    return { url: answer.url, body: Buffer.from(await answer.arrayBuffer()) };
  }

  /** Reads the sound behind a multivariant playlist; answers its length and the text of its media playlist. */
  async function take(main: Awaited<ReturnType<typeof get>>, options: PlayByHlsOptions = {}) {
    const { variants } = hls.parse(main.body.toString()) as hls.types.MasterPlaylist;
    const variant = variants.find(({ resolution }) => !resolution) ?? variants[0]!;
    const media = await get(new URL(variant.uri, main.url).href);
    const text = media.body.toString();
    const { segments } = hls.parse(text) as hls.types.MediaPlaylist;
    for (const [index, { uri, byterange }] of [segments[0]!.map, ...segments].entries()) {
      const { body } = await get(new URL(uri, media.url).href, byterange);
      options.onContent?.(body);
      options.onProgress?.(index / segments.length);
    }
    return {
      text,
      segments: segments.length,
      seconds: segments.reduce((sum, { duration }) => sum + duration, 0),
    };
  }

  const main = await get(entryUrl);
  const { text, ...content } = await take(main, { onProgress, onContent });
  const breaks: HeardBreak[] = [];
  for (const [, id, date, list] of text.matchAll(/ID="([^"]+)".*?START-DATE="([^"]+)".*?X-ASSET-LIST="([^"]+)"/g)) {
    const { ASSETS: assets } = JSON.parse((await get(list!)).body.toString()) as {
      readonly ASSETS: readonly { readonly URI: string; readonly DURATION: number }[];
    };
    for (const { URI } of assets) await take(await get(URI));
    const atSeconds = (Date.parse(date!) - contentStartMs) / 1000;
    breaks.push({ id: id!, atSeconds, ads: assets.map(({ DURATION }) => DURATION) });
  }
  return { mainUrl: main.url, ...content, breaks };
}
