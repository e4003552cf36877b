import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  FragmentError,
  firstFrames,
  iFrameArguments,
  indexFragments,
  indexIFrames,
  pictureArguments,
  pictureLadder,
  pictureRate,
  type FrameRate,
} from '../src/index.ts';

let folder: string;
beforeAll(() => void (folder = mkdtempSync(path.join(tmpdir(), 'longwave-hls-pictures-'))));
afterAll(() => rmSync(folder, { recursive: true }));

/** A moving picture of some seconds with hard cuts at 3.3 and 6.1 s, encoded with the arguments. */
const encode = ({ frames, seconds }: FrameRate, length: number, args: readonly string[]) =>
  execFileSync('ffmpeg', [
    ...['-nostdin', '-v', 'error', '-y', '-f', 'lavfi'],
    ...[
      '-i',
      `testsrc=size=320x240:rate=${frames}/${seconds}:duration=${length},negate=enable='between(t,3.3,6.1)'`,
      ...args,
    ],
  ]);

/** All of so many pictures. */
const whole = (pictures: number) => ({ offsetSeconds: 0, pictures });

const reading = (bytes: Buffer) => [(from: number, to: number) => bytes.subarray(from, to), bytes.length] as const;

interface Packet {
  readonly dts: number;
  readonly flags: string;
}

/** What ffprobe finds, without a word of complaint. */
function probe(file: string, entries: string): { streams: Record<string, unknown>[]; packets?: Packet[] } {
  const args = ['-v', 'warning', '-show_entries', entries, '-of', 'json', file];
  const { stdout, stderr } = spawnSync('ffprobe', args, { encoding: 'utf8' });
  expect(stderr).toBe('');
  return JSON.parse(stdout) as ReturnType<typeof probe>;
}

/** A rung small enough for a test. */
const tiny = { ...pictureLadder[0]!, width: 96, height: 54, maxRate: 100 };
/** Cells of 2 to 4 s, not at whole pictures. */
const gridMs = [0, 2345.6, 5001, 7999.9];

describe.each([
  ['25 pictures a second', { frames: 25, seconds: 1 }, { frames: 25, seconds: 1 }],
  ['29.97 pictures a second', { frames: 30_000, seconds: 1001 }, { frames: 30_000, seconds: 1001 }],
  ['60 pictures a second, halved', { frames: 60, seconds: 1 }, { frames: 30, seconds: 1 }],
] as const)('a rung at %s', (name, source, rate) => {
  test('has one fragment and one closed group of pictures for each cell, at the nearest picture, without gap or edit list', async () => {
    expect(pictureRate(source)).toEqual(rate);
    const file = path.join(folder, `${name}.mp4`);
    const starts = firstFrames(gridMs, rate);
    const length = Math.round((10 * rate.frames) / rate.seconds);
    encode(source, 10, pictureArguments(tiny, rate, starts, whole(length), file));
    const bytes = readFileSync(file);
    const { index, codec, width, height } = await indexFragments(...reading(bytes));

    const perPicture = (index.timescale * rate.seconds) / rate.frames;
    expect(Number.isInteger(perPicture)).toBe(true);
    expect(index.cells.map(([, , start]) => start / perPicture)).toEqual(starts);
    const pictures = index.cells.reduce((sum, [, , , duration]) => sum + duration, 0) / perPicture;
    expect(pictures).toBe(length);
    const ends = index.cells.map(([offset, length]) => offset + length);
    expect(index.cells.map(([offset]) => offset)).toEqual([index.init, ...ends.slice(0, -1)]);

    // The judge: ffprobe's packets, by their decoding times (it moves those of showing). Key frames are the first of each cell, and none else.
    const found = probe(file, 'stream=width,height,profile,level,color_space:packet=dts,flags');
    expect(found.streams[0]).toMatchObject({ width, height, profile: 'Main', level: 30, color_space: 'bt709' });
    const keys = found.packets!.filter(({ flags }) => flags.startsWith('K')).map(({ dts }) => dts / perPicture);
    expect(keys).toEqual(starts);
    expect(found.packets!.length).toBe(pictures);
    expect(codec).toBe('avc1.4d401e');

    // Closed: each cell decodes alone, with the initialization section before it, into all its pictures.
    const [offset, size, , duration] = index.cells[1]!;
    const alone = Buffer.concat([bytes.subarray(0, index.init), bytes.subarray(offset, offset + size)]);
    const raw = execFileSync(
      'ffmpeg',
      ['-v', 'error', '-xerror', '-i', 'pipe:0', '-vsync', '0', '-f', 'rawvideo', 'pipe:1'],
      {
        input: alone,
        maxBuffer: 1 << 28,
      },
    );
    expect(raw.length).toBe((duration / perPicture) * tiny.width * tiny.height * 1.5);
  });
});

test('pixels of any shape are fitted in one step, with even sides and bars, in little memory', () => {
  const rate = { frames: 1, seconds: 1 };
  /** Width and height of the white that is not bar. */
  const shown = (source: string) => {
    const args = pictureArguments({ ...tiny, width: 640, height: 360 }, rate, [0], whole(1), 'pipe:1');
    const filters = args[args.indexOf('-vf') + 1]!;
    const input = ['-nostdin', '-v', 'error', '-max_alloc', '8000000', '-f', 'lavfi', '-i', `color=white:${source}`];
    const raw = ['-frames:v', '1', '-pix_fmt', 'gray', '-f', 'rawvideo', 'pipe:1'];
    const bytes = execFileSync('ffmpeg', [...input, '-vf', filters, ...raw], { maxBuffer: 1 << 20 });
    const white = (at: number) => bytes[at]! > 128;
    const [row, column] = [180 * 640, 320];
    return [
      Array.from({ length: 640 }, (_none, x) => white(row + x)).filter(Boolean).length,
      Array.from({ length: 360 }, (_none, y) => white(y * 640 + column)).filter(Boolean).length,
    ];
  };
  expect(shown('size=64x2000,setsar=sar=2000/1:max=2000')).toEqual([640, 10]);
  expect(shown('size=720x576,setsar=64/45:max=2000')).toEqual([640, 360]);
  expect(shown('size=1440x1080')).toEqual([480, 360]);
  expect(shown('size=1080x1920')).toEqual([202, 360]);
  expect(shown('size=854x480')).toEqual([640, 360]);
});

test('two encodes of a rung give equal bytes', () => {
  const [one, other] = ['one', 'other'].map((name) => {
    const file = path.join(folder, `${name}.mp4`);
    encode({ frames: 25, seconds: 1 }, 3, pictureArguments(tiny, { frames: 25, seconds: 1 }, [0], whole(75), file));
    return readFileSync(file);
  });
  expect(one!.equals(other!)).toBe(true);
});

test('the names of codecs are those of the ladder', async () => {
  const rate = { frames: 25, seconds: 1 };
  const codecs = await Promise.all(
    pictureLadder.map(async (rung) => {
      const file = path.join(folder, `${rung.height}.mp4`);
      encode(rate, 0.2, pictureArguments(rung, rate, [0], whole(5), file));
      const { codec, width, height } = await indexFragments(...reading(readFileSync(file)));
      return `${codec} ${width}x${height}`;
    }),
  );
  expect(codecs).toEqual([
    'avc1.4d401e 640x360',
    'avc1.4d401f 854x480',
    'avc1.64001f 1280x720',
    'avc1.640028 1920x1080',
  ]);
});

/** The brightness of the pictures of a file, 16 to 235, one byte each. */
const lumas = (file: string): number[] => {
  const four = ['-vf', 'crop=2:2,extractplanes=y', '-f', 'rawvideo', 'pipe:1'];
  return [...execFileSync('ffmpeg', ['-v', 'error', '-i', file, ...four])].filter((_luma, at) => at % 4 === 0);
};

describe('the span of a track', () => {
  const rate = { frames: 25, seconds: 1 };
  /** Twenty pictures, each brighter than the one before, from `firstMs` on. */
  const brightening = (firstMs: number, args: readonly string[]) => {
    const grey = "format=yuv420p,geq=lum='16+11*N':cb=128:cr=128";
    const source = `color=black:size=64x36:rate=25:duration=0.8,${grey},setpts=PTS+${firstMs / 1000}/TB`;
    execFileSync('ffmpeg', ['-nostdin', '-v', 'error', '-y', '-copyts', '-f', 'lavfi', '-i', source, ...args]);
  };
  const made = (first: number, span: { offsetSeconds: number; pictures: number }) => {
    const file = path.join(folder, 'span.mp4');
    brightening(first, pictureArguments({ ...tiny, maxRate: 1000 }, rate, [0], span, file));
    return lumas(file).map((luma) => Math.round((luma - 16) / 11));
  };

  test('begins with the picture of its time, not with the first one', () => {
    expect(made(0, { offsetSeconds: 0.2, pictures: 10 })).toEqual([5, 6, 7, 8, 9, 10, 11, 12, 13, 14]);
  });

  test('holds the first picture until it begins, and the last one to its end', () => {
    const late = made(120, { offsetSeconds: 0, pictures: 30 });
    expect(late.slice(0, 6)).toEqual([0, 0, 0, 0, 1, 2]);
    expect(late.length).toBe(30);
    expect(new Set(late.slice(22))).toEqual(new Set([19]));
  });
});

test('a picture has square pixels and bars, whatever the shape of the source', () => {
  const file = path.join(folder, 'shape.mp4');
  // A square of 4:3 pixels, white: 72 of 96 pixels wide in a picture of 54 lines.
  const source = 'color=white:size=90x90:rate=25:duration=0.2,setsar=4/3';
  const args = pictureArguments(tiny, { frames: 25, seconds: 1 }, [0], whole(5), file);
  execFileSync('ffmpeg', ['-nostdin', '-v', 'error', '-y', '-f', 'lavfi', '-i', source, ...args]);
  const grey = ['-frames:v', '1', '-vf', 'crop=96:2:0:26,format=gray', '-f', 'rawvideo', 'pipe:1'];
  const line = [...execFileSync('ffmpeg', ['-v', 'error', '-i', file, ...grey])];
  expect(line.filter((each) => each > 128).length).toBe(2 * 72);
  expect([line[0], line.at(-1)].every((each) => each! < 40)).toBe(true);
});

describe('pictures for seeking', () => {
  test('are two a second, each a cell that decodes alone', async () => {
    const file = path.join(folder, 'iframes.mp4');
    encode({ frames: 25, seconds: 1 }, 5, iFrameArguments(whole(10), file));
    const bytes = readFileSync(file);
    const { index, codec, width, height } = await indexIFrames(...reading(bytes));
    expect({ codec, width, height }).toEqual({ codec: 'avc1.4d401e', width: 640, height: 360 });
    expect(index.cells.length).toBe(10);
    for (const [, , , duration] of index.cells) expect(duration / index.timescale).toBe(0.5);
    const { packets } = probe(file, 'packet=flags');
    expect(packets!.every(({ flags }) => flags.startsWith('K'))).toBe(true);
    const [offset, length] = index.cells[7]!;
    const raw = execFileSync('ffmpeg', ['-v', 'error', '-xerror', '-i', 'pipe:0', '-f', 'rawvideo', 'pipe:1'], {
      input: Buffer.concat([bytes.subarray(0, index.init), bytes.subarray(offset, offset + length)]),
    });
    expect(raw.length).toBe(640 * 360 * 1.5);
  });

  test('are not a rung', async () => {
    const file = path.join(folder, 'rung.mp4');
    encode({ frames: 25, seconds: 1 }, 2, pictureArguments(tiny, { frames: 25, seconds: 1 }, [0], whole(50), file));
    await expect(indexIFrames(...reading(readFileSync(file)))).rejects.toThrow(FragmentError);
  });
});

test('a file is refused that is cut, that has lost a fragment, whose time is edited, or whose pictures are shown late', async () => {
  const file = path.join(folder, 'whole.mp4');
  encode(
    { frames: 25, seconds: 1 },
    6,
    pictureArguments(tiny, { frames: 25, seconds: 1 }, [0, 50, 100], whole(150), file),
  );
  const bytes = readFileSync(file);
  const { index } = await indexFragments(...reading(bytes));
  const [first, second] = index.cells;
  const refused = [
    bytes.subarray(0, second![0] + 200),
    bytes.subarray(0, index.init),
    bytes.subarray(first![0]),
    Buffer.concat([bytes.subarray(0, first![0]), bytes.subarray(second![0])]),
    Buffer.alloc(0),
    Buffer.alloc(40),
  ];
  for (const each of refused) await expect(indexFragments(...reading(each))).rejects.toThrow(FragmentError);

  const edited = path.join(folder, 'edited.mp4');
  execFileSync('ffmpeg', ['-nostdin', '-v', 'error', '-y', '-i', file, '-c', 'copy', edited]);
  await expect(indexFragments(...reading(readFileSync(edited)))).rejects.toThrow('edit list');

  const late = pictureArguments(tiny, { frames: 30, seconds: 1 }, [0, 70], whole(180), file).map((each) =>
    each.replace('+negative_cts_offsets', ''),
  );
  encode({ frames: 30, seconds: 1 }, 6, late);
  await expect(indexFragments(...reading(readFileSync(file)))).rejects.toThrow('shown late');
});
