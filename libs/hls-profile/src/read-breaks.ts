import { quotedOf } from './attributes.ts';
import { z } from 'zod';
import type { AssetRead, BreakRead, MediaRead, Presentation } from './presentation.ts';
import type { DateRangeTag } from './playlist.ts';
import type { Reader } from './reader.ts';
import { isInterstitial } from './tracks.ts';

/** Reads the presentation of an ad once; undefined when that is not possible. */
export type ReadAd = (uri: string, base: string, where: string) => Promise<Presentation | undefined>;

/** A stream with more is judged by its first ones. */
const maxBreaks = 50;
const maxAssets = 20;

const listSchema = z.object({ ASSETS: z.array(z.object({ URI: z.string(), DURATION: z.unknown() })) });

const sameBytes = (a: Uint8Array, b: Uint8Array) =>
  a.length === b.length && a.every((byte, index) => byte === b[index]);

function parseList(body: Uint8Array): {
  readonly assets: z.infer<typeof listSchema>['ASSETS'];
  readonly problems: readonly string[];
} {
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder().decode(body));
  } catch {
    return { assets: [], problems: ['The asset list is no JSON. Write {"ASSETS":[…]}.'] };
  }
  const { data, error } = listSchema.safeParse(json);
  if (!data) {
    const at = error.issues[0]!.path.join('.') || 'the document';
    return {
      assets: [],
      problems: [`The asset list is wrong at ${at}. Write {"ASSETS":[{"URI":"https://…","DURATION":30}]}.`],
    };
  }
  const relative = data.ASSETS.filter(({ URI }) => URL.parse(URI) === null);
  return {
    assets: data.ASSETS.slice(0, maxAssets),
    problems: relative.map(({ URI }) => `The address “${URI}” is not absolute. Begin it with https://.`),
  };
}

async function readBreak(reader: Reader, readAd: ReadAd, tag: DateRangeTag, base: string): Promise<BreakRead> {
  const { attributes } = tag;
  const where = `break “${quotedOf(attributes, 'ID') ?? ''}”`;
  const listUri = quotedOf(attributes, 'X-ASSET-LIST');
  const readAsset = async (uri: string, from: string, place: number, duration: unknown): Promise<AssetRead> => {
    const at = `${where}, ad ${place}`;
    return { where: at, duration, presentation: await readAd(uri, from, at) };
  };
  if (listUri === undefined) {
    const uri = quotedOf(attributes, 'X-ASSET-URI');
    const assets = uri === undefined ? [] : [await readAsset(uri, base, 1, undefined)];
    return { where, tag, list: undefined, assets };
  }
  const request = { uri: listUri, base, where, kind: 'asset list' } as const;
  const first = await reader.get(request);
  const second = first && (await reader.get(request));
  if (!first) return { where, tag, list: { isSame: true, problems: [] }, assets: [] };
  const { assets, problems } = parseList(first.body);
  const read: AssetRead[] = [];
  for (const [index, { URI, DURATION }] of assets.entries())
    read.push(await readAsset(URI, first.url, index + 1, DURATION));
  return {
    where,
    tag,
    list: { isSame: second === undefined || sameBytes(first.body, second.body), problems },
    assets: read,
  };
}

/** Every interstitial that a media playlist names, with its ads. Asset lists are asked for twice. */
export async function readBreaks(
  reader: Reader,
  readAd: ReadAd,
  media: readonly MediaRead[],
): Promise<readonly BreakRead[]> {
  const tags = new Map<string, { tag: DateRangeTag; base: string }>();
  for (const { playlist, url } of media)
    for (const tag of playlist.dateRanges) {
      const id = quotedOf(tag.attributes, 'ID') ?? tag.text;
      if (isInterstitial(tag.attributes) && !tags.has(id)) tags.set(id, { tag, base: url });
    }
  if (tags.size > maxBreaks) reader.note(`Of ${tags.size} breaks the first ${maxBreaks} were asked for their ads.`);
  const breaks: BreakRead[] = [];
  for (const { tag, base } of [...tags.values()].slice(0, maxBreaks))
    breaks.push(await readBreak(reader, readAd, tag, base));
  return breaks;
}
