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
  readonly mainUrl: string;
  /** The initialization section and all segments. */
  readonly content: Buffer;
  readonly breaks: readonly HeardBreak[];
}

const contentStartMs = Date.UTC(2020, 0, 1);

/** Plays an episode to its end as a podcast app with HLS does: playlists, every segment by its range, and the ads of each break. */
export async function playByHls(entryUrl: string, userAgent: string): Promise<HeardByHls> {
  async function get(url: string, range?: { readonly offset: number; readonly length: number }) {
    const ranged = range && { range: `bytes=${range.offset}-${range.offset + range.length - 1}` };
    const answer = await fetch(url, { headers: { 'user-agent': userAgent, ...ranged } });
    if (answer.status !== (range ? 206 : 200)) throw new Error(`${answer.status} of ${url.replace(/t1\.[^/]+/, '…')}`);
    return { url: answer.url, body: Buffer.from(await answer.arrayBuffer()) };
  }

  /** The sound behind a multivariant playlist, and the text of its media playlist. */
  async function take(mainUrl: string) {
    const main = await get(mainUrl);
    const { variants } = hls.parse(main.body.toString()) as hls.types.MasterPlaylist;
    const media = await get(new URL(variants[0]!.uri, main.url).href);
    const text = media.body.toString();
    const { segments } = hls.parse(text) as hls.types.MediaPlaylist;
    const { uri, byterange } = segments[0]!.map;
    const pieces = [(await get(new URL(uri, media.url).href, byterange)).body];
    for (const segment of segments)
      pieces.push((await get(new URL(segment.uri, media.url).href, segment.byterange)).body);
    return { mainUrl: main.url, text, bytes: Buffer.concat(pieces) };
  }

  const { mainUrl, text, bytes } = await take(entryUrl);
  const breaks: HeardBreak[] = [];
  for (const [, id, date, list] of text.matchAll(/ID="([^"]+)".*?START-DATE="([^"]+)".*?X-ASSET-LIST="([^"]+)"/g)) {
    const { ASSETS: assets } = JSON.parse((await get(list!)).body.toString()) as {
      readonly ASSETS: readonly { readonly URI: string; readonly DURATION: number }[];
    };
    for (const { URI } of assets) await take(URI);
    const atSeconds = (Date.parse(date!) - contentStartMs) / 1000;
    breaks.push({ id: id!, atSeconds, ads: assets.map(({ DURATION }) => DURATION) });
  }
  return { mainUrl, content: bytes, breaks };
}
