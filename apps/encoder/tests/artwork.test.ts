import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { constants, crc32, deflateRawSync, deflateSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openChannel } from '@longwave/rpc';
import { ProbeServiceService, type ArtworkRendition, type PrepareArtworkResponse } from '@longwave/rpc/probe';
import { createLogger } from '@longwave/service-kit';
import { ffmpeg } from '@longwave/test-kit';
import { createApp, type EncoderApp } from '../src/app.ts';
import { corners, makeImage, plainJpeg, turned } from './_images.ts';
import { createWorld, type World } from './_support.ts';

let world: World;
let app: EncoderApp;
let count = 0;

beforeAll(async () => {
  world = await createWorld();
  app = await createApp(world.config, createLogger('encoder', 'silent'));
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

async function ask(request: { storageKey: string; sourceUrl?: string }): Promise<PrepareArtworkResponse['outcome']> {
  const channel = openChannel(`127.0.0.1:${app.grpcPort}`, 'encoder', world.tls('management'));
  try {
    return (await channel.client(ProbeServiceService).prepareArtwork(request, { deadlineMs: 30_000 })).outcome;
  } finally {
    channel.close();
  }
}

async function prepare(bytes: Buffer, name = 'cover.jpg'): Promise<ArtworkRendition[]> {
  const storageKey = `uploads/upl_${++count}/${name}`;
  await world.store.put(storageKey, bytes, { contentType: 'image/jpeg' });
  const outcome = await ask({ storageKey });
  if (outcome?.$case !== 'artwork') throw new Error(outcome?.value.detail);
  return outcome.value.renditions;
}

async function refusalOf(bytes: Buffer): Promise<string> {
  const storageKey = `uploads/upl_${++count}/cover.jpg`;
  await world.store.put(storageKey, bytes, { contentType: 'image/jpeg' });
  const outcome = await ask({ storageKey });
  expect(outcome).toMatchObject({ $case: 'unreadable', value: { code: 'artwork_not_acceptable' } });
  return outcome!.$case === 'unreadable' ? outcome!.value.detail : '';
}

interface Shown {
  readonly format_name: string;
  readonly codec: string;
  readonly width: number;
  readonly height: number;
  readonly pixels: string;
  readonly tags: object | undefined;
  /** RGB of a pixel near each corner: top left, top right, bottom left, bottom right. */
  readonly corners: number[][];
}

/** A rendition as a decoder sees it. */
async function show({ storageKey, sha256, sizeBytes, contentType }: ArtworkRendition): Promise<Shown> {
  const bytes = await buffer(await world.store.get(storageKey));
  expect(createHash('sha256').update(bytes).digest('hex')).toBe(sha256);
  expect(storageKey).toBe(`artwork/${sha256}`);
  expect(Number(sizeBytes)).toBe(bytes.length);
  expect((await world.store.find(storageKey))?.contentType).toBe(contentType);
  const file = path.join(world.folder, `rendition${++count}`);
  writeFileSync(file, bytes);
  const json = execFileSync('ffprobe', ['-v', 'error', '-show_streams', '-show_format', '-of', 'json', file]);
  const { format, streams } = JSON.parse(json.toString()) as {
    format: { format_name: string; tags?: object };
    streams: { codec_name: string; width: number; height: number; pix_fmt: string }[];
  };
  const [stream] = streams;
  const { width, height } = stream!;
  const rgb = ffmpeg('-i', file, '-f', 'rawvideo', '-pix_fmt', 'rgb24', 'pipe:1');
  const pixel = (x: number, y: number) => [...rgb.subarray((y * width + x) * 3, (y * width + x) * 3 + 3)];
  const [near, far] = [20, width - 20];
  return {
    format_name: format.format_name,
    codec: stream!.codec_name,
    width,
    height,
    pixels: stream!.pix_fmt,
    tags: format.tags,
    corners: [pixel(near, near), pixel(far, near), pixel(near, far), pixel(far, far)],
  };
}

const closeTo = (colours: readonly (readonly number[])[], wanted: readonly (readonly number[])[], tolerance = 4) =>
  colours.forEach((colour, i) =>
    colour.forEach((value, channel) => expect(Math.abs(value - wanted[i]![channel]!)).toBeLessThanOrEqual(tolerance)),
  );
const [red, green, blue, white] = [
  [255, 0, 0],
  [0, 255, 0],
  [0, 0, 255],
  [255, 255, 255],
];

test('an image becomes a JPEG of its own size, JPEGs of 1400 and 600 and a WebP of 600, in true colours and without metadata', async () => {
  for (const [source, codec, args] of [
    [corners(1600), 'mjpeg', ['-pix_fmt', 'yuvj444p', '-metadata', 'comment=secret']],
    [corners(1600), 'png', []],
  ] as const) {
    const renditions = await prepare(makeImage(source, codec, ...args));
    expect(renditions.map(({ size, contentType }) => [size, contentType])).toEqual([
      [1600, 'image/jpeg'],
      [1400, 'image/jpeg'],
      [600, 'image/jpeg'],
      [600, 'image/webp'],
    ]);
    for (const rendition of renditions) {
      const shown = await show(rendition);
      expect(shown).toMatchObject({
        codec: rendition.contentType === 'image/webp' ? 'webp' : 'mjpeg',
        width: rendition.size,
        height: rendition.size,
        pixels: rendition.contentType === 'image/webp' ? 'yuv420p' : 'yuvj420p',
      });
      expect(shown.tags).toBeUndefined();
      closeTo(shown.corners, [red, green, blue, white]);
    }
  }
  expect(
    readdirSync(path.join(world.folder, 'work'), { recursive: true }).filter((n) => /artwork/.test(String(n))),
  ).toEqual([]);
});

test('nothing is enlarged: an image of 1400 pixels has no larger rendition', async () => {
  const renditions = await prepare(makeImage(corners(1400), 'png'));
  expect(renditions.map(({ size }) => size)).toEqual([1400, 600, 600]);
});

test('equal images give equal bytes', async () => {
  const image = makeImage('mandelbrot=s=1500x1500', 'png');
  expect(await prepare(image)).toEqual(await prepare(image));
});

test('a detailed image is compressed until it has at most 512 KB', async () => {
  const image = makeImage('testsrc2=s=3000x3000,noise=alls=12:allf=t', 'mjpeg', '-q:v', '2');
  expect(image.length).toBeGreaterThan(2_000_000);
  for (const { sizeBytes } of await prepare(image)) expect(Number(sizeBytes)).toBeLessThanOrEqual(512 * 1024);
});

describe('images of other colour models become RGB', () => {
  test.each([
    ['CMYK', plainJpeg(1400, [255, 0, 0, 255], 0), red],
    ['CMYK with black', plainJpeg(1400, [255, 255, 255, 128], 0), [128, 128, 128]],
    ['YCCK', plainJpeg(1400, [179, 171, 1, 255], 2), red],
    ['grey JPEG', makeImage('color=0x808080:s=1400x1400,format=gray', 'mjpeg'), [128, 128, 128]],
    ['grey PNG of 16 bits', makeImage('color=0x808080:s=1400x1400,format=gray16be', 'png'), [128, 128, 128]],
    ['PNG with a palette', makeImage('color=red:s=1400x1400,format=pal8', 'png'), red],
    ['transparent PNG, on white', makeImage('color=red@0.0:s=1400x1400,format=rgba', 'png'), white],
    ['half transparent PNG', makeImage('color=black@0.5:s=1400x1400,format=rgba', 'png'), [127, 127, 127]],
  ] as const)('%s', async (_name, image, colour) => {
    const [first] = await prepare(image);
    const shown = await show(first!);
    expect(shown.pixels).toBe('yuvj420p');
    closeTo(shown.corners, [colour, colour, colour, colour]);
  });
});

test('a photo that a camera turned stands upright', async () => {
  const image = makeImage(corners(1400), 'mjpeg', '-pix_fmt', 'yuvj444p');
  const [first] = await prepare(turned(image, 6));
  closeTo((await show(first!)).corners, [blue, red, white, green]);
});

/** A gigabyte of zeros as zlib compresses it (RFC 1950): a compressed megabyte so many times, the end, and the checksum. */
function deflatedGigabyte(): Buffer {
  const megabyte = deflateRawSync(Buffer.alloc(1024 ** 2), { finishFlush: constants.Z_FULL_FLUSH });
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE((1024 ** 3 % 65_521) * 65_536 + 1);
  const repeated = new Array<Buffer>(1024).fill(megabyte);
  return Buffer.concat([Buffer.from('7801', 'hex'), ...repeated, deflateRawSync(Buffer.alloc(0)), checksum]);
}

describe('a wrong image is refused with the reason', () => {
  const chunk = (type: string, body: Buffer) => {
    const typed = Buffer.concat([Buffer.from(type, 'latin1'), body]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(body.length);
    sum.writeUInt32BE(crc32(typed));
    return Buffer.concat([length, typed, sum]);
  };
  const png = (width: number, height: number, ...chunks: Buffer[]) => {
    const header = Buffer.alloc(13);
    header.writeUInt32BE(width, 0);
    header.writeUInt32BE(height, 4);
    header.set([8, 2, 0, 0, 0], 8);
    const signature = Buffer.from('89504e470d0a1a0a', 'hex');
    return Buffer.concat([signature, chunk('IHDR', header), ...chunks, chunk('IEND', Buffer.alloc(0))]);
  };
  const pixels = chunk('IDAT', deflateSync(Buffer.alloc(100)));
  const jpeg = makeImage(corners(1400), 'mjpeg');

  test.each([
    ['nothing', Buffer.alloc(0), /is empty/],
    ['text', Buffer.from('hello'), /This is not an image\. Upload a JPEG or PNG/],
    ['a web page', Buffer.from('<!doctype html><html>'), /This is a web page/],
    ['an SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), /an SVG or XML file/],
    ['a GIF', makeImage('color=red:s=1400x1400', 'gif', '-f', 'gif'), /a GIF image/],
    ['a WebP', makeImage('color=red:s=1400x1400', 'libwebp', '-f', 'webp'), /a WebP image/],
    ['not square', makeImage('color=red:s=1500x1400', 'mjpeg'), /not square: it has 1500 × 1400 pixels/],
    ['too small', makeImage('testsrc=s=1399x1399', 'png'), /too small: it has 1399 × 1399 pixels/],
    ['too large', makeImage('testsrc=s=3001x3001', 'mjpeg'), /too large: it has 3001 × 3001 pixels/],
    ['a bomb', png(0x7fffffff, 0x7fffffff, pixels), /too large/],
    ['a bomb that lies', png(3000, 3000, chunk('IDAT', deflateSync(Buffer.alloc(100)))), /damaged/],
    ['animated', png(1400, 1400, chunk('acTL', Buffer.alloc(8)), pixels), /animated/],
    ['a JPEG that ends early', jpeg.subarray(0, jpeg.length * 0.6), /ends too early/],
    ['a JPEG of its header', jpeg.subarray(0, 3), /ends too early/],
    ['a PNG that ends early', makeImage('mandelbrot=s=1400x1400', 'png').subarray(0, 50_000), /ends too early/],
    ['CMYK of unknown polarity', plainJpeg(1400, [0, 0, 0, 0]), /CMYK.*RGB/],
  ] as const)('%s', async (_name, bytes, words) => {
    expect(await refusalOf(bytes)).toMatch(words);
  });

  test('more than 20 MB, and a missing object', async () => {
    expect(await refusalOf(Buffer.concat([jpeg, Buffer.alloc(20 * 1024 * 1024)]))).toMatch(/larger than 20 MB/);
    expect(await ask({ storageKey: 'uploads/upl_none/x.jpg' })).toMatchObject({
      $case: 'unreadable',
      value: { detail: 'The uploaded image is not stored. Upload it again.' },
    });
  });

  test('a compressed text of a gigabyte in a PNG is not unpacked', async () => {
    const text = Buffer.concat([Buffer.from('x\0\0'), deflatedGigabyte()]);
    const image = makeImage(corners(1400), 'png');
    const bomb = Buffer.concat([image.subarray(0, 33), chunk('zTXt', text), image.subarray(33)]);
    expect((await prepare(bomb)).map(({ size }) => size)).toEqual([1400, 600, 600]);
  });
});

describe('from an address', () => {
  test('an image is fetched, whatever its name says', async () => {
    const address = world.web.serve('/cover.webp?x=1', makeImage(corners(1400), 'png'));
    expect(await ask({ storageKey: '', sourceUrl: address })).toMatchObject({ $case: 'artwork' });
  });
  test('one that cannot be fetched is refused with the reason', async () => {
    const detailOf = async (sourceUrl: string) => {
      const outcome = await ask({ storageKey: '', sourceUrl });
      expect(outcome).toMatchObject({ $case: 'unreadable', value: { code: 'media_not_fetchable' } });
      return outcome!.$case === 'unreadable' ? outcome!.value.detail : '';
    };
    expect(await detailOf(`${world.web.origin}/none.jpg`)).toMatch(/status 404/);
    expect(await detailOf('https://127.0.0.1/x.jpg')).toMatch(/No public host/);
    expect(await detailOf(world.web.serve('/huge.jpg', Buffer.alloc(21 * 1024 * 1024)))).toMatch(/larger than 20 MB/);
    const redirect = world.web.answer('/redirect.jpg', (_request, response) =>
      response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data' }).end(),
    );
    expect(await detailOf(redirect)).toMatch(/No public host/);
  });
  test('exactly one of object and address must be named', async () => {
    await expect(ask({ storageKey: '' })).rejects.toMatchObject({ code: 'validation_failed' });
    await expect(ask({ storageKey: 'x', sourceUrl: 'https://x.example/' })).rejects.toMatchObject({
      code: 'validation_failed',
    });
  });
});
