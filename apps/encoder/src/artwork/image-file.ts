import { MediaFault } from '../media/media-fault.ts';

/** A still JPEG or PNG, known from its bytes without decoding them. */
export interface ImageFile {
  readonly kind: 'jpeg' | 'png';
  readonly width: number;
  readonly height: number;
  /** Only what decoding needs: no compressed text, colour profiles or previews that could grow beyond measure. */
  readonly bytes: Buffer;
}

const refused = (detail: string) => new MediaFault('artwork_not_acceptable', detail);
const incomplete = () => refused('The image ends too early or is damaged. Upload the whole file again.');

/** Other kinds by their first bytes, to be named in the refusal. */
const otherKinds: readonly (readonly [RegExp, string])[] = [
  [/^GIF8/, 'a GIF image'],
  [/^RIFF[^]{4}WEBP/, 'a WebP image'],
  [/^[^]{4}ftyp(avif|avis)/, 'an AVIF image'],
  [/^[^]{4}ftyp(heic|heix|mif1|msf1|hevc)/, 'an HEIC image'],
  [/^BM/, 'a BMP image'],
  [/^(II\*\0|MM\0\*)/, 'a TIFF image'],
  [/^%PDF/, 'a PDF document'],
  [/^8BPS/, 'a Photoshop document'],
  [/^\s*(<\?xml|<svg)/i, 'an SVG or XML file'],
  [/^\s*<(!doctype|html)/i, 'a web page'],
];

/** Recognises an image by its content, not by its name. Throws `MediaFault` with the reason when it is not a still JPEG or PNG. */
export function readImageFile(bytes: Buffer): ImageFile {
  if (bytes.length === 0) throw refused('The image file is empty. Upload it again.');
  const magic = bytes.toString('latin1', 0, 64);
  if (magic.startsWith('\xff\xd8\xff')) return readJpeg(bytes);
  if (magic.startsWith('\x89PNG\r\n\x1a\n')) return readPng(bytes);
  const kind = otherKinds.find(([pattern]) => pattern.test(magic))?.[1];
  throw refused(`This is ${kind ?? 'not an image'}. Upload a JPEG or PNG image.`);
}

/** Chunks that define the pixels; all others are ancillary (PNG, third edition, §5.6). */
const pngChunksKept: ReadonlySet<string> = new Set(['IHDR', 'PLTE', 'tRNS', 'IDAT', 'IEND']);

function readPng(bytes: Buffer): ImageFile {
  const kept = [bytes.subarray(0, 8)];
  let size: { width: number; height: number } | undefined;
  for (let at = 8; at + 12 <= bytes.length;) {
    const length = bytes.readUInt32BE(at);
    const type = bytes.toString('latin1', at + 4, at + 8);
    const end = at + 12 + length;
    if (end > bytes.length) throw incomplete();
    if (!size) {
      if (type !== 'IHDR' || length !== 13) throw incomplete();
      size = { width: bytes.readUInt32BE(at + 8), height: bytes.readUInt32BE(at + 12) };
    }
    if (type === 'acTL') throw refused('The image is animated. Upload a still JPEG or PNG image.');
    if (pngChunksKept.has(type)) kept.push(bytes.subarray(at, end));
    if (type === 'IEND') return { kind: 'png', ...size, bytes: Buffer.concat(kept) };
    at = end;
  }
  throw incomplete();
}

/** Segments that change how the pixels look: JFIF, Exif (orientation) and Adobe (CMYK and YCCK). */
const jpegSegmentsKept: readonly (readonly [marker: number, start: string])[] = [
  [0xe0, 'JFIF\0'],
  [0xe1, 'Exif\0'],
  [0xee, 'Adobe'],
];

const isFrameHeader = (marker: number) => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);

/** ITU-T T.81 Annex B: segments up to the first scan, which must be followed by an end of image. */
function readJpeg(bytes: Buffer): ImageFile {
  const kept = [bytes.subarray(0, 2)];
  let size: { width: number; height: number } | undefined;
  let components = 0;
  let byAdobe = false;
  for (let at = 2; at + 4 <= bytes.length;) {
    if (bytes[at] !== 0xff) throw incomplete();
    const marker = bytes[at + 1]!;
    if (marker === 0xff) {
      at++;
      continue;
    }
    const end = at + 2 + bytes.readUInt16BE(at + 2);
    if (end > bytes.length || end < at + 4) throw incomplete();
    if (isFrameHeader(marker)) {
      if (size || end < at + 10) throw incomplete();
      size = { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
      components = bytes[at + 9]!;
    }
    if (marker === 0xda) {
      if (!size) throw incomplete();
      const imageEnd = bytes.lastIndexOf('ffd9', undefined, 'hex');
      if (imageEnd < end) throw incomplete();
      // Without Adobe's marker it is unknown whether the inks are inverted.
      if (components === 4 && !byAdobe)
        throw refused('The colours of this CMYK image cannot be read. Export it as RGB.');
      return { kind: 'jpeg', ...size, bytes: Buffer.concat([...kept, bytes.subarray(at, imageEnd + 2)]) };
    }
    const isApplication = marker >= 0xe0 && marker <= 0xef;
    const start = bytes.toString('latin1', at + 4, at + 10);
    byAdobe ||= marker === 0xee && start.startsWith('Adobe');
    const isKept =
      !isApplication || jpegSegmentsKept.some(([kept, prefix]) => marker === kept && start.startsWith(prefix));
    if (isKept && marker !== 0xfe) kept.push(bytes.subarray(at, end));
    at = end;
  }
  throw incomplete();
}
