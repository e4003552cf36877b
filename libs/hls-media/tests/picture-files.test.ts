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
    encode(source, 10, pictureArguments(tiny, rate, starts, file));
    const bytes = readFileSync(file);
    const { index, codec, width, height } = await indexFragments(...reading(bytes));

    const perPicture = (index.timescale * rate.seconds) / rate.frames;
    expect(Number.isInteger(perPicture)).toBe(true);
    expect(index.cells.map(([, , start]) => start / perPicture)).toEqual(starts);
    const pictures = index.cells.reduce((sum, [, , , duration]) => sum + duration, 0) / perPicture;
    expect(pictures).toBe(Math.round((10 * rate.frames) / rate.seconds));
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
    const [offset, length, , duration] = index.cells[1]!;
    const alone = Buffer.concat([bytes.subarray(0, index.init), bytes.subarray(offset, offset + length)]);
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

test('two encodes of a rung give equal bytes', () => {
  const [one, other] = ['one', 'other'].map((name) => {
    const file = path.join(folder, `${name}.mp4`);
    encode({ frames: 25, seconds: 1 }, 3, pictureArguments(tiny, { frames: 25, seconds: 1 }, [0], file));
    return readFileSync(file);
  });
  expect(one!.equals(other!)).toBe(true);
});

test('the names of codecs are those of the ladder', async () => {
  const rate = { frames: 25, seconds: 1 };
  const codecs = await Promise.all(
    pictureLadder.map(async (rung) => {
      const file = path.join(folder, `${rung.height}.mp4`);
      encode(rate, 0.2, pictureArguments(rung, rate, [0], file));
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

describe('pictures for seeking', () => {
  test('are two a second, each a cell that decodes alone', async () => {
    const file = path.join(folder, 'iframes.mp4');
    encode({ frames: 25, seconds: 1 }, 5, iFrameArguments(file));
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
    encode({ frames: 25, seconds: 1 }, 2, pictureArguments(tiny, { frames: 25, seconds: 1 }, [0], file));
    await expect(indexIFrames(...reading(readFileSync(file)))).rejects.toThrow(FragmentError);
  });
});

test('a file is refused that is cut, that has lost a fragment, whose time is edited, or whose pictures are shown late', async () => {
  const file = path.join(folder, 'whole.mp4');
  encode({ frames: 25, seconds: 1 }, 6, pictureArguments(tiny, { frames: 25, seconds: 1 }, [0, 50, 100], file));
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

  const late = pictureArguments(tiny, { frames: 30, seconds: 1 }, [0, 70], file).map((each) =>
    each.replace('+negative_cts_offsets', ''),
  );
  encode({ frames: 30, seconds: 1 }, 6, late);
  await expect(indexFragments(...reading(readFileSync(file)))).rejects.toThrow('shown late');
});
