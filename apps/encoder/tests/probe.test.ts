import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openChannel } from '@longwave/rpc';
import { ProbeServiceService, type ProbeRequest, type ProbeResponse } from '@longwave/rpc/probe';
import { createLogger } from '@longwave/service-kit';
import { createApp, type EncoderApp } from '../src/app.ts';
import { jobsOf, type Jobs } from './_jobs.ts';
import { cutFile, makeSource, makeStreamed, speech } from './_media.ts';
import { createWorld, type World } from './_support.ts';

let world: World;
let app: EncoderApp;
let jobs: Jobs;

beforeAll(async () => {
  world = await createWorld();
  jobs = jobsOf(world);
  app = await createApp(world.config, createLogger('encoder', 'silent'));
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

async function ask(
  request: ProbeRequest,
  caller: 'management' | 'public-delivery' = 'management',
): Promise<ProbeResponse['outcome']> {
  const channel = openChannel(`127.0.0.1:${app.grpcPort}`, 'encoder', world.tls(caller));
  try {
    return (await channel.client(ProbeServiceService).probe(request, { deadlineMs: 15_000 })).outcome;
  } finally {
    channel.close();
  }
}
const probe = (storageKey: string, caller?: 'management' | 'public-delivery') => ask({ storageKey }, caller);
const durationOf = (outcome: ProbeResponse['outcome']) => {
  if (outcome?.$case !== 'audio') throw new Error(outcome?.value.detail);
  return Number(outcome.value.durationMs);
};

describe('of a stored object', () => {
  const put = async (name: string, bytes: string | Buffer) => {
    const key = `uploads/upl_probe/${name}`;
    await world.store.put(key, Buffer.from(bytes), { contentType: 'audio/mpeg' });
    return key;
  };

  test('describes an object without downloading it', async () => {
    const { storageKey } = await jobs.upload(makeSource(world.folder, 'probe me.m4a', speech(5)));
    expect(await probe(storageKey)).toMatchObject({
      $case: 'audio',
      value: { codec: 'aac', sampleRate: 44100, channels: 1 },
    });
    const { storageKey: mp3 } = await jobs.upload(makeSource(world.folder, 'probe.mp3', speech(5), '-b:a', '96k'));
    const outcome = await probe(mp3);
    expect(outcome).toMatchObject({ $case: 'audio', value: { container: 'mp3', codec: 'mp3', bitrate: 96000 } });
    expect(Math.abs(Number((outcome as { value: { durationMs: bigint } }).value.durationMs) - 5000)).toBeLessThan(100);
  });

  test('names what is wrong with a file', async () => {
    const cut = cutFile(makeSource(world.folder, 'probe-cut.wav', speech(3)), 0.7);
    expect(await probe(await put('empty.mp3', ''))).toMatchObject({
      $case: 'unreadable',
      value: { code: 'media_empty' },
    });
    expect(await probe(await put('text.mp3', 'hello\n'.repeat(2000)))).toMatchObject({
      $case: 'unreadable',
      value: { code: 'media_not_audio' },
    });
    expect(await probe(await put('cut.wav', readFileSync(cut)))).toMatchObject({
      $case: 'unreadable',
      value: { code: 'media_truncated' },
    });
    const playlist = `#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\nhttp://${world.management.address}/a.ts\n#EXT-X-ENDLIST\n`;
    expect(await probe(await put('list.m3u8', playlist))).toMatchObject({
      $case: 'unreadable',
      value: { code: 'media_not_audio' },
    });
  });

  test('a missing object is a problem, and only its callers may ask', async () => {
    await expect(probe('uploads/upl_none/x.mp3')).rejects.toMatchObject({ code: 'object_not_found' });
    await expect(probe('uploads/upl_none/x.mp3', 'public-delivery')).rejects.toMatchObject({
      code: 'permission_denied',
    });
  });
});

describe('of a file at an address', () => {
  const probeUrl = (sourceUrl: string) => ask({ storageKey: '', sourceUrl });

  // The fastest way to so many bytes.
  const rate = ['-b:a', '128k'];
  test.each([
    ['mp3', [...rate, '-compression_level', '9']],
    ['m4a', [...rate, '-aac_coder', 'fast']],
    ['fast.m4a', [...rate, '-aac_coder', 'fast', '-movflags', '+faststart']],
    ['wav', []],
    ['flac', []],
    ['ogg', [...rate, '-c:a', 'libvorbis']],
  ] as const)('a large %s is known from a few byte ranges', async (ending, args) => {
    const body = readFileSync(makeSource(world.folder, `web.${ending}`, 'anoisesrc=a=0.3:r=44100:d=300', ...args));
    const before = world.web.sentBytes();
    const outcome = await probeUrl(world.web.serve(`/web.${ending}`, body, { latencyMs: 50 }));
    expect(body.length).toBeGreaterThan(4_000_000);
    expect(Math.abs(durationOf(outcome) - 300_000)).toBeLessThan(100);
    expect(world.web.sentBytes() - before).toBeLessThan(2_500_000);
  });

  test('a streamed file without any statement of its length is measured', async () => {
    const file = makeStreamed(world.folder, 'web-streamed.flac', speech(60), '-f', 'flac');
    const outcome = await probeUrl(world.web.serve('/streamed.flac', readFileSync(file)));
    expect(Math.abs(durationOf(outcome) - 60_000)).toBeLessThan(100);
  });

  test('only the last address of a redirect is asked for more', async () => {
    const body = readFileSync(makeSource(world.folder, 'behind.m4a', speech(60)));
    const address = world.web.serve('/behind.m4a', body);
    const prefix = world.web.answer('/prefix/behind.m4a', (_request, response) =>
      response.writeHead(302, { location: address }).end(),
    );
    expect(Math.abs(durationOf(await probeUrl(prefix)) - 60_000)).toBeLessThan(100);
    expect(world.web.asked.filter((asked) => asked.startsWith('/prefix/'))).toHaveLength(1);
    expect(world.web.asked.filter((asked) => asked.startsWith('/behind')).length).toBeGreaterThan(1);
  });

  test('a host without byte ranges is read whole when the file is small', async () => {
    const body = readFileSync(makeSource(world.folder, 'whole.m4a', speech(30)));
    const outcome = await probeUrl(world.web.serve('/whole.m4a', body, { ranges: false }));
    expect(Math.abs(durationOf(outcome) - 30_000)).toBeLessThan(100);
  });

  const wrong: readonly (readonly [string, () => string, string, RegExp])[] = [
    ['is not there', () => `${world.web.origin}/none.mp3`, 'media_not_fetchable', /status 404/],
    ['lies in a private network', () => 'https://192.168.0.1/x.mp3', 'media_not_fetchable', /No public host/],
    ['is empty', () => world.web.serve('/empty.mp3', Buffer.alloc(0)), 'media_empty', /empty/],
    [
      'is text',
      () => world.web.serve('/text.mp3', Buffer.from('hello\n'.repeat(20_000))),
      'media_not_audio',
      /not an audio/,
    ],
    [
      'is large and has no byte ranges',
      () => world.web.serve('/large.mp3', Buffer.alloc(33 * 1024 * 1024), { ranges: false }),
      'media_not_fetchable',
      /byte ranges/,
    ],
    [
      'ends early',
      () => world.web.serve('/cut.wav', readFileSync(cutFile(makeSource(world.folder, 'web-cut.wav', speech(9)), 0.7))),
      'media_truncated',
      /ends before/,
    ],
  ];
  test.each(wrong)('one that %s is refused with the reason', async (_name, address, code, words) => {
    expect(await probeUrl(address())).toEqual({
      $case: 'unreadable',
      value: { code, detail: expect.stringMatching(words) },
    });
  });

  test('exactly one of object and address must be named', async () => {
    await expect(ask({ storageKey: '' })).rejects.toMatchObject({ code: 'validation_failed' });
    await expect(ask({ storageKey: 'x', sourceUrl: 'https://x.example/' })).rejects.toMatchObject({
      code: 'validation_failed',
    });
  });
});
