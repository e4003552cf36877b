import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { canonicalFormat, checkCanonical } from '@longwave/audio';
import { ffmpeg } from '@longwave/test-kit';
import { encodeAudio, type EncodedAudio } from '../src/media/encode-audio.ts';
import { MediaFault } from '../src/media/media-fault.ts';
import { cutFile, decodedSeconds, decodeLeft, makeSource, makeStreamed, speech, temporaryFolder } from './_media.ts';

let folder: string;
let remove: () => void;
let outputs = 0;

beforeAll(() => {
  const temporary = temporaryFolder();
  folder = temporary.path;
  remove = () => temporary[Symbol.dispose]();
});
afterAll(() => remove());

async function encode(
  inputPath: string,
  targetLufs = -16,
): Promise<EncodedAudio & { readonly bytes: Buffer; readonly path: string }> {
  const outputPath = path.join(folder, `out${outputs++}.mp3`);
  const result = await encodeAudio({ inputPath, outputPath, targetLufs });
  return { ...result, bytes: readFileSync(outputPath), path: outputPath };
}

async function faultOf(inputPath: string): Promise<string> {
  const outputPath = path.join(folder, `out${outputs++}.mp3`);
  const error: unknown = await encodeAudio({ inputPath, outputPath, targetLufs: -16 }).catch(
    (reason: unknown) => reason,
  );
  expect(readdirSync(folder).filter((name) => name.startsWith(path.basename(outputPath)))).toEqual([]);
  expect(error).toBeInstanceOf(MediaFault);
  return (error as MediaFault).code;
}

const picture = ['-f', 'lavfi', '-i', 'testsrc=s=320x180:r=25:d=6'];
const x264 = [...picture, '-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p'];
const withCover = (...audio: string[]) => [...picture, '-map', '0:a', '-map', '1:v', '-frames:v', '1', ...audio];

describe('every supported kind of source becomes a canonical segment of its length at the target loudness', () => {
  test.each([
    ['cbr.mp3', 'mp3', ['-b:a', '96k', '-metadata', 'title=I: -5 LUFS']],
    ['vbr.mp3', 'mp3', ['-q:a', '4']],
    ['cover.mp3', 'mp3', withCover('-c:v', 'mjpeg', '-disposition:v', 'attached_pic')],
    ['aac.m4a', 'aac', ['-b:a', '128k']],
    ['alac.m4a', 'alac', ['-c:a', 'alac']],
    ['cover.m4a', 'aac', withCover('-c:v', 'mjpeg', '-disposition:v', 'attached_pic')],
    ['16.wav', 'pcm_s16le', []],
    ['24.wav', 'pcm_s24le', ['-c:a', 'pcm_s24le', '-ac', '2', '-ar', '96000']],
    ['float.wav', 'pcm_f32le', ['-c:a', 'pcm_f32le', '-rf64', 'always']],
    ['16.flac', 'flac', []],
    ['24.flac', 'flac', ['-sample_fmt', 's32', '-ac', '2']],
    ['vorbis.ogg', 'vorbis', ['-c:a', 'libvorbis']],
    ['opus.ogg', 'opus', ['-c:a', 'libopus']],
    ['flac.ogg', 'flac', ['-c:a', 'flac']],
    ['mono.opus', 'opus', ['-c:a', 'libopus', '-b:a', '32k']],
    ['adts.aac', 'aac', []],
    ['h264.mp4', 'aac', [...x264, '-c:a', 'aac']],
    ['fast.mp4', 'aac', [...x264, '-c:a', 'aac', '-movflags', '+faststart']],
    ['parts.mp4', 'aac', [...x264, '-c:a', 'aac', '-movflags', '+frag_keyframe+empty_moov']],
    ['pcm.mov', 'pcm_s16le', [...picture, '-c:v', 'mjpeg', '-c:a', 'pcm_s16le']],
    ['aac.mov', 'aac', [...x264, '-c:a', 'aac']],
    ['film.mkv', 'opus', [...x264, '-c:a', 'libopus']],
    ['video.m4v', 'aac', [...x264, '-c:a', 'aac', '-f', 'mp4']],
  ] as const)('%s (%s)', async (name, codec, args) => {
    const file = makeSource(folder, name, speech(5), ...args);
    const result = await encode(file);
    expect(result.source.codec).toBe(codec);
    expect(checkCanonical(result.bytes)).toEqual({
      canonical: true,
      frames: result.frames,
      sizeBytes: result.sizeBytes,
      durationMs: result.durationMs,
    });
    expect(result.sha256).toBe(createHash('sha256').update(result.bytes).digest('hex'));
    // The last frame counts whole.
    const overMs = result.durationMs - decodedSeconds(file) * 1000;
    expect(overMs).toBeGreaterThan(-1);
    expect(overMs).toBeLessThan(canonicalFormat.frameMs + 1);
    expect(Math.abs(result.durationMs - 5000)).toBeLessThan(codec === 'aac' ? 96 : 48);
    expect(Math.abs(result.source.durationMs - 5000)).toBeLessThan(96);
    expect(Math.abs(result.loudness.lufs! + 16)).toBeLessThanOrEqual(0.5);
    expect(result.loudness.truePeakDbtp!).toBeLessThanOrEqual(-1);
    expect(result.waveform).toMatchObject({ version: 2, sample_rate: 48000, samples_per_pixel: 2400, bits: 8 });
    expect(result.waveform.length).toBe(Math.ceil((result.frames * 1152) / 2400));
  });

  test.each([
    ['sound.aiff', 'pcm_s16be', []],
    ['sound.caf', 'pcm_s16be', ['-c:a', 'pcm_s16be']],
    ['sound.wma', 'wmav2', ['-c:a', 'wmav2']],
    ['sound.mp2', 'mp2', ['-c:a', 'mp2']],
    ['film.avi', 'mp2', [...picture, '-c:v', 'mjpeg', '-c:a', 'mp2']],
  ] as const)('%s (%s) is read as well', async (name, codec, args) => {
    const result = await encode(makeSource(folder, name, speech(2), ...args));
    expect(result.source.codec).toBe(codec);
    expect(Math.abs(result.durationMs - 2000)).toBeLessThan(150);
    expect(checkCanonical(result.bytes)).toMatchObject({ canonical: true });
  });

  test.each([
    ['flac', ['-f', 'flac']],
    ['mka', ['-c:a', 'aac', '-f', 'matroska']],
    ['webm', ['-c:a', 'libopus', '-f', 'webm']],
    ['wav', ['-f', 'wav']],
    ['aac', ['-c:a', 'aac', '-b:a', '48k', '-f', 'adts']],
    ['mp3', ['-q:a', '6', '-write_xing', '0', '-f', 'mp3']],
    ['ogg', ['-c:a', 'libvorbis', '-f', 'ogg']],
    ['mp4', ['-c:a', 'aac', '-movflags', '+frag_keyframe+empty_moov', '-f', 'mp4']],
  ] as const)('the length of a streamed %s is known before it is decoded', async (ending, args) => {
    // Silence first: the bit rate at the beginning differs from that of the rest.
    const sound = `${speech(10)},volume='if(lt(t,4),0,1)':eval=frame`;
    const result = await encode(makeStreamed(folder, `streamed.${ending}`, sound, ...args));
    expect(Math.abs(result.source.durationMs - 10_000)).toBeLessThan(100);
    expect(Math.abs(result.durationMs - 10_000)).toBeLessThan(100);
  });

  test('a mono source gives two equal channels', async () => {
    const result = await encode(makeSource(folder, 'mono.wav', speech(2), '-ac', '1'));
    const difference = ffmpeg('-i', result.path, '-af', 'pan=mono|c0=c0-c1', '-f', 's16le', 'pipe:1');
    expect(Math.max(...new Int16Array(new Uint8Array(difference).buffer))).toBeLessThanOrEqual(2);
  });
});

test('sample n of the source is sample n of the segment, with and without the limiter', async () => {
  for (const at of [10_000, 60_001]) {
    const quiet = makeSource(
      folder,
      `impulse${at}.wav`,
      `aevalsrc='if(eq(n,${at}),0.9,0.05*sin(2*PI*300*t))':s=48000:d=2`,
      '-c:a',
      'pcm_f32le',
    );
    for (const target of [-28, -14]) {
      const samples = decodeLeft((await encode(quiet, target)).path);
      const background = 0.3;
      const peakAt = samples.reduce(
        (best, value, index) => (Math.abs(value) > Math.abs(samples[best]!) ? index : best),
        0,
      );
      expect(Math.abs(samples[peakAt]!)).toBeGreaterThan(target === -28 ? 0.1 : background);
      expect(Math.abs(peakAt - at)).toBeLessThanOrEqual(1);
    }
  }
});

test('the same input gives the same bytes', async () => {
  const source = makeSource(folder, 'again.flac', speech(3));
  const [first, second] = [await encode(source), await encode(source)];
  expect(second.sha256).toBe(first.sha256);
});

test('peaks above the maximum are limited while the loudness is kept', async () => {
  const source = makeSource(
    folder,
    'peaky.wav',
    "aevalsrc='0.05*sin(2*PI*400*t)+if(lt(mod(t,1),0.004),0.9*sin(2*PI*900*t),0)':s=48000:d=6",
  );
  const result = await encode(source);
  expect(result.inputLoudness.samplePeakDbfs! - 16 - result.inputLoudness.lufs!).toBeGreaterThan(-1);
  expect(result.loudness.truePeakDbtp!).toBeLessThanOrEqual(-1);
  expect(Math.abs(result.loudness.lufs! + 16)).toBeLessThanOrEqual(0.5);
});

test('a peak between the samples, which the first measurement does not see, is limited as well', async () => {
  // Samples of a tone at a quarter of the rate lie 3 dB below its peaks.
  const source = makeSource(
    folder,
    'between.wav',
    "aevalsrc='0.15*sin(2*PI*400*t)+if(lt(mod(t,1),0.004),0.72*sin(2*PI*12000*t+PI/4),0)':s=48000:d=4",
    '-c:a',
    'pcm_f32le',
  );
  const result = await encode(source);
  expect(result.inputLoudness.samplePeakDbfs! - 16 - result.inputLoudness.lufs!).toBeLessThan(-3);
  expect(result.loudness.truePeakDbtp!).toBeLessThanOrEqual(-1);
  expect(Math.abs(result.loudness.lufs! + 16)).toBeLessThanOrEqual(0.5);
});

test('the shortest sound gives a segment that can be decoded', async () => {
  const result = await encode(makeSource(folder, 'ten.wav', 'sine=f=500:r=48000', '-af', 'atrim=end_sample=10'));
  expect(result).toMatchObject({ frames: 2, sizeBytes: 768, durationMs: 48 });
  expect(decodeLeft(result.path).length).toBe(2 * 1152);
});

test('silence stays silence and has no loudness', async () => {
  const result = await encode(makeSource(folder, 'silence.wav', 'anullsrc=r=44100:cl=mono', '-t', '1'));
  expect(result.inputLoudness).toEqual({ lufs: null, samplePeakDbfs: null });
  expect(new Set(result.waveform.data)).toEqual(new Set([0]));
  expect(result.silences).toEqual([[0, result.durationMs]]);
});

test.each([
  ['44.1 kHz mono', ['-ar', '44100', '-ac', '1']],
  ['48 kHz stereo', ['-ar', '48000', '-ac', '2']],
  // The peaks of the encoded sound count, whatever the level of the source.
  ['quiet', ['-af', 'volume=-20dB']],
])('silences of at least 0.3 s are found to a frame: %s', async (name, args) => {
  const gaps = [
    [0, 0.4],
    [2, 2.5],
    [4, 4.25],
    [6, 7.013],
    [9, 10],
  ];
  const isGap = gaps.map(([from, to]) => `between(t,${from},${to})`).join('+');
  const tone = `aevalsrc='if(${isGap},0.0002,0.3)*sin(2*PI*440*t)':s=48000:d=10`;
  const result = await encode(makeSource(folder, `gaps ${name}.wav`, tone, ...args));
  const expected = gaps.filter(([from, to]) => to! - from! >= 0.3).map((gap) => gap.map((at) => at * 1000));
  expect(result.silences).toHaveLength(expected.length);
  for (const [index, silence] of result.silences.entries())
    for (const side of [0, 1] as const)
      expect(Math.abs(silence[side] - expected[index]![side]!)).toBeLessThanOrEqual(canonicalFormat.frameMs);
  expect(result.silences[0]![0]).toBe(0);
  expect(result.silences.at(-1)![1]).toBe(result.durationMs);
});

describe('a file at fault is reported with its fault', () => {
  const written = (name: string, content: string | Buffer) => {
    const file = path.join(folder, name);
    writeFileSync(file, content);
    return file;
  };

  test('empty file: media_empty', async () => {
    expect(await faultOf(written('empty.mp3', ''))).toBe('media_empty');
  });
  test('audio without a sample: media_empty', async () => {
    expect(await faultOf(makeSource(folder, 'nothing.wav', 'anullsrc', '-t', '0'))).toBe('media_empty');
  });
  test('text, HTML, JPEG renamed and random bytes: media_not_audio', async () => {
    expect(await faultOf(written('text.mp3', 'hello\n'.repeat(3000)))).toBe('media_not_audio');
    expect(
      await faultOf(written('page.mp3', `<!doctype html><html><body>${'<p>x</p>'.repeat(900)}</body></html>`)),
    ).toBe('media_not_audio');
    expect(await faultOf(written('random.mp3', createHash('sha512').update('x').digest()))).toBe('media_not_audio');
    ffmpeg('-f', 'lavfi', '-i', 'testsrc=s=640x480', '-frames:v', '1', path.join(folder, 'image.jpg'));
    expect(await faultOf(written('image.mp3', readFileSync(path.join(folder, 'image.jpg'))))).toBe('media_not_audio');
  });
  test('a video without a sound track: media_not_audio', async () => {
    const file = path.join(folder, 'silent-film.mp4');
    ffmpeg(...x264, '-an', file);
    expect(await faultOf(file)).toBe('media_not_audio');
  });
  test('a playlist that points elsewhere is never followed: media_not_audio', async () => {
    expect(
      await faultOf(
        written('list.mp3', '#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\nhttp://127.0.0.1:9/a.ts\n#EXT-X-ENDLIST\n'),
      ),
    ).toBe('media_not_audio');
    expect(await faultOf(written('concat.mp3', "ffconcat version 1.0\nfile 'peaky.wav'\n"))).toBe('media_not_audio');
  });
  test('a video without sound: media_not_audio', async () => {
    ffmpeg('-f', 'lavfi', '-i', 'testsrc=s=160x120:d=1', '-c:v', 'mpeg4', path.join(folder, 'mute.mp4'));
    expect(await faultOf(path.join(folder, 'mute.mp4'))).toBe('media_not_audio');
  });
  test('a codec that is not on the list: media_unsupported_codec', async () => {
    expect(await faultOf(makeSource(folder, 'old.mka', speech(1), '-c:a', 'ac3'))).toBe('media_unsupported_codec');
  });
  test.each([
    ['wav', []],
    ['flac', []],
    ['mp3', []],
    ['ogg', ['-c:a', 'libvorbis']],
    ['m4a', []],
    ['fast.m4a', ['-movflags', '+faststart']],
    ['mka', ['-c:a', 'aac']],
    ['film.mp4', [...x264, '-c:a', 'aac']],
  ] as const)('a %s that ends early: media_truncated', async (ending, args) => {
    const whole = makeSource(folder, `whole.${ending}`, speech(5), ...args);
    expect(await faultOf(cutFile(whole, 0.6))).toBe('media_truncated');
    expect(await faultOf(cutFile(whole, 0.9))).toBe('media_truncated');
  });
  test('a WAV with a streamed header and an MP3 without a length header are accepted', async () => {
    const wav = makeSource(folder, 'streamed.wav', speech(2));
    const bytes = readFileSync(wav);
    bytes.writeUInt32LE(0xffff_ffff, bytes.indexOf('data') + 4);
    expect((await encode(written('streamed2.wav', bytes))).durationMs).toBeGreaterThan(1990);
    const bare = makeSource(folder, 'bare.mp3', speech(2), '-write_xing', '0');
    expect((await encode(cutFile(bare, 0.5))).durationMs).toBeGreaterThan(950);
  });
});

test('an aborted encode kills ffmpeg at once and leaves no file', async () => {
  const inputPath = makeSource(folder, 'long.wav', 'sine=f=300:r=48000:d=120');
  const outputPath = path.join(folder, 'aborted.mp3');
  const controller = new AbortController();
  const onProgress = (stage: string) => {
    if (stage === 'encoding') controller.abort(new Error('stop'));
  };
  await expect(
    encodeAudio({ inputPath, outputPath, targetLufs: -16, onProgress, signal: controller.signal }),
  ).rejects.toThrow('stop');
  expect(readdirSync(folder).filter((name) => name.startsWith('aborted'))).toEqual([]);
  expect(existsSync(outputPath)).toBe(false);
});
