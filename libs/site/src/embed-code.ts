import { escapeXml } from '@longwave/xml';

/** HTML that shows the player of an episode in another page. Sizes are in CSS pixels. */
export const embedCode = ({
  src,
  title,
  width,
  height,
}: {
  readonly src: string;
  readonly title: string;
  readonly width: number;
  readonly height: number;
}): string =>
  `<iframe src="${escapeXml(src)}" title="${escapeXml(title)}" width="${width}" height="${height}" loading="lazy" style="border:0"></iframe>`;
