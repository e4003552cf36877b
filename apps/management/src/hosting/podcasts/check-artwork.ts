import { imageSize } from './image-size.ts';
import { describeAnswer, type PublicFetch } from '../../outside/public-fetch.ts';

/** Something that directories refuse (error) or dislike (warning) about a feed. */
export interface Finding {
  readonly severity: 'error' | 'warning';
  readonly code: string;
  readonly text: string;
}

/** Bytes of an image that are searched for its size: colour profiles and camera data may precede it. */
const headBytes = 262_144;
const extensions: Readonly<Record<string, readonly string[]>> = { jpeg: ['jpg', 'jpeg'], png: ['png'] };

/**
 * Checks an image over HTTP as Apple does: HEAD answers 200 with the true type and a length, a range is answered 206, the image is a
 * square JPEG or PNG of 1400 to 3000 pixels and its address ends in the true extension (Apple Podcasts, artwork; 823).
 */
export async function checkArtwork(publicFetch: PublicFetch, url: string): Promise<Finding[]> {
  const findings: Finding[] = [];
  const error = (code: string, text: string) => findings.push({ severity: 'error', code, text });

  const head = await publicFetch(url, { method: 'HEAD' });
  if (head.status !== 200)
    error('artwork_head', `The artwork answers HEAD with ${describeAnswer(head)}; directories need 200.`);
  else if (!(Number(head.header('content-length')) > 0))
    error('artwork_length', 'The artwork has no Content-Length in its answer to HEAD.');

  const part = await publicFetch(url, { range: { start: 0, end: headBytes - 1 }, maxBytes: headBytes });
  if (part.status !== 206)
    error('artwork_range', `The artwork answers a byte range with ${describeAnswer(part)}; directories need 206.`);
  if (part.status !== 206 && part.status !== 200) return findings;

  const size = imageSize(part.body);
  if (!size) {
    error('artwork_format', 'The artwork is neither a JPEG nor a PNG.');
    return findings;
  }
  const type = `image/${size.format}`;
  const stated = (head.header('content-type') ?? '').split(';')[0]!.trim().toLowerCase();
  if (head.status === 200 && stated !== type)
    error('artwork_type', `The artwork is ${type}, but its answer says ${stated || 'nothing'}.`);
  const extension = /\.([a-z0-9]+)$/i.exec(new URL(url).pathname)?.[1]?.toLowerCase() ?? '';
  if (!extensions[size.format]!.includes(extension))
    error(
      'artwork_extension',
      `The artwork is ${type}, so its address ends in .${extensions[size.format]!.join(' or .')}.`,
    );
  if (size.width !== size.height)
    error('artwork_square', `The artwork is square, not ${size.width} × ${size.height} pixels.`);
  else if (size.width < 1400 || size.width > 3000)
    error('artwork_size', `The artwork has 1400 to 3000 pixels a side, not ${size.width}.`);
  return findings;
}
