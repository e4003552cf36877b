/** Some bytes of a file. */
export interface ByteSpan {
  readonly url: string;
  readonly offset: number;
  readonly length: number;
}

/** Times are seconds of the presentation. */
export interface Segment extends ByteSpan {
  readonly start: number;
  readonly end: number;
}

/** A place for ads; one behind the content is at infinity. */
export interface Break {
  readonly at: number;
  readonly listUrl: string;
}

export interface MediaPlaylist {
  readonly init: ByteSpan;
  readonly segments: readonly [Segment, ...Segment[]];
  readonly breaks: readonly Break[];
}

/** An ad: the address of its multivariant playlist, and its length. */
export interface Asset {
  readonly url: string;
  readonly seconds: number;
}

/** A listener hears no more ads in one break, whatever a list says. */
const maxAssets = 20;

const resolve = (uri: string, base: string) => new URL(uri, base).href;
const quoted = (line: string, name: string) => new RegExp(`[:,]${name}="([^"]*)"`).exec(line)?.[1];

/** The variant with sound alone of a multivariant playlist. */
export function parseMultivariant(text: string, base: string): { readonly url: string; readonly codecs: string } {
  const [, tag, uri] = /^(#EXT-X-STREAM-INF:(?!.*RESOLUTION=).*)\n(.+)$/m.exec(text) ?? [];
  const codecs = tag && quoted(tag, 'CODECS');
  if (!codecs || !uri) throw new Error('no sound');
  return { url: resolve(uri, base), codecs };
}

/** A media playlist as Longwave writes them: an initialization section, and each segment by its byte range. */
export function parseMedia(text: string, base: string): MediaPlaylist {
  const span = (uri: string, length: string, offset: string): ByteSpan => ({
    url: resolve(uri, base),
    ...{ offset: Number(offset), length: Number(length) },
  });
  const [, map, mapLength, mapOffset] = /#EXT-X-MAP:URI="([^"]+)",BYTERANGE="(\d+)@(\d+)"/.exec(text) ?? [];
  let end = 0;
  const pattern = /^#EXTINF:([\d.]+),.*\n#EXT-X-BYTERANGE:(\d+)@(\d+)\n(.+)$/gm;
  const segments = [...text.matchAll(pattern)].map(([, seconds, length, offset, uri]): Segment => {
    const start = end;
    end += Number(seconds);
    return { ...span(uri!, length!, offset!), start, end };
  });
  const [first, ...more] = segments;
  if (!map || !first) throw new Error('no segments');
  const zero = Date.parse(/#EXT-X-PROGRAM-DATE-TIME:(.+)/.exec(text)?.[1] ?? '');
  const breaks = [...text.matchAll(/^#EXT-X-DATERANGE:.*$/gm)].flatMap(([line]): Break[] => {
    const [list, date] = [quoted(line, 'X-ASSET-LIST'), quoted(line, 'START-DATE')];
    const at = quoted(line, 'CUE')?.includes('POST') ? Infinity : (Date.parse(date ?? '') - zero) / 1000;
    return list === undefined || Number.isNaN(at) ? [] : [{ at, listUrl: resolve(list, base) }];
  });
  return { init: span(map, mapLength!, mapOffset!), segments: [first, ...more], breaks };
}

/** The ads of an asset list; what is none is left out. */
export function parseAssetList(text: string, base: string): readonly Asset[] {
  const list = JSON.parse(text) as { readonly ASSETS?: unknown } | null;
  const assets: readonly unknown[] = Array.isArray(list?.ASSETS) ? list.ASSETS : [];
  return assets.slice(0, maxAssets).flatMap((asset) => {
    const { URI: uri, DURATION: seconds } = (asset ?? {}) as { readonly URI?: unknown; readonly DURATION?: unknown };
    return typeof uri === 'string' && typeof seconds === 'number' ? [{ url: resolve(uri, base), seconds }] : [];
  });
}
