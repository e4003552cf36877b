import hls from 'hls-parser';
import { Refused } from './_attempts.ts';
import type { createMediaClient } from './_media-client.ts';

type Take = ReturnType<typeof createMediaClient>;

/** A play by HLS that has begun. */
interface HlsPlay {
  /** One more step of playing: a segment, before every fifth the playlist, behind it the ads of a break; equal to what they were before. */
  goOn(round: number): Promise<void>;
}

const playlistEvery = 5;

/**
 * Opens a play as a player does, and asks for the ads of its breaks. A play has no breaks where none can be kept for the listener.
 * @param options.take notes what media arrives; `takeText` notes nothing
 * @throws `Refused` and errors of the network
 */
export async function openHlsPlay(
  entryUrl: string,
  agent: string,
  { take, takeText }: { readonly take: Take; readonly takeText: Take },
): Promise<HlsPlay> {
  const headers = { 'user-agent': agent };
  const textOf = async (url: string) => (await takeText(url, headers)).toString();
  // The answer itself has the addresses of the play; a client that follows the redirect gets the same.
  const main = hls.parse(await textOf(`${entryUrl}?direct=1`)) as hls.types.MasterPlaylist;
  const mediaUrl = new URL(main.variants[0]!.uri, entryUrl).href;
  const playlist = await textOf(mediaUrl);
  // The presentation for everybody, which a new listener gets while the database is away, is counted for nobody (docs/hls.md).
  const takeCounted = new URL(mediaUrl).pathname.startsWith('/delivery/v1/h/') ? takeText : take;
  const { segments } = hls.parse(playlist) as hls.types.MediaPlaylist;
  const lists = [...playlist.matchAll(/X-ASSET-LIST="([^"]+)"/g)].map(([, url]) => url!);
  const empty = JSON.stringify({ ASSETS: [] });
  const known = new Map<string, string>();
  for (const url of lists) known.set(url, await textOf(url));

  const heard = new Map<number, Buffer>();
  async function takeSegment(index: number): Promise<void> {
    const { uri, byterange } = segments[index]!;
    const { offset, length } = byterange;
    const range = `bytes=${offset}-${offset + length - 1}`;
    const bytes = await takeCounted(new URL(uri, mediaUrl).href, { ...headers, range });
    if (!(heard.get(index) ?? bytes).equals(bytes)) throw new Refused('OTHER BYTES');
    heard.set(index, bytes);
  }
  async function readAgain(): Promise<void> {
    if ((await textOf(mediaUrl)) !== playlist) throw new Refused('ANOTHER PLAYLIST');
    for (const url of lists) {
      const list = await textOf(url);
      const before = known.get(url)!;
      // Empty while an engine is away; decided later where it could not be before.
      if (list !== before && list !== empty && before !== empty) throw new Refused('OTHER ADS');
      if (list !== empty) known.set(url, list);
    }
  }
  return {
    async goOn(round) {
      if (round % playlistEvery === playlistEvery - 1) await readAgain();
      await takeSegment(round % segments.length);
    },
  };
}
