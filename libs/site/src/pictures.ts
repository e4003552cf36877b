import type { FeedImage } from '@longwave/feed';
import { escapeXml } from '@longwave/xml';
import type { SiteEpisode, SiteShow } from './site.ts';

/** Pixels of a side of the artwork on a page, in CSS. */
const shownPixels = 280;
/** What previews of links need of a side. */
const previewPixels = 600;

type Pictured = Pick<SiteEpisode, 'images' | 'artworkUrl'>;

const sorted = (images: readonly FeedImage[] = []) => images.toSorted((a, b) => a.size - b.size);

/** The episode's own artwork, else that of its podcast. */
export const picturedOf = ({ podcast }: SiteShow, episode?: SiteEpisode): Pictured =>
  episode?.artworkUrl === undefined ? podcast : episode;

/** `<img>` of the artwork in the size that the screen needs; nothing while only another host has it. */
export function artworkImage({ images, artworkUrl }: Pictured, { mediaUrl }: SiteShow): readonly string[] {
  const own = sorted(images?.filter(({ url }) => url.startsWith(mediaUrl)));
  const webp = own.filter(({ contentType }) => contentType === 'image/webp');
  const common = own.filter(({ contentType }) => contentType !== 'image/webp');
  // One WebP of 600 pixels is enough for every screen.
  const choices = webp.length > 0 ? webp : common;
  const smallest = (choices.find(({ size }) => size >= shownPixels * 2) ?? choices.at(-1))?.url;
  const source = smallest ?? (artworkUrl?.startsWith(mediaUrl) ? artworkUrl : undefined);
  if (source === undefined) return [];
  const side = `width="${shownPixels}" height="${shownPixels}"`;
  return [`<img class="artwork" src="${escapeXml(source)}" alt="" ${side} fetchpriority="high">`];
}

/** The picture for previews of links, which are made of JPEG or PNG. */
export function previewPicture({ images, artworkUrl }: Pictured): string | undefined {
  const common = sorted(images?.filter(({ contentType }) => contentType !== 'image/webp'));
  return (common.find(({ size }) => size >= previewPixels) ?? common.at(-1))?.url ?? artworkUrl;
}
