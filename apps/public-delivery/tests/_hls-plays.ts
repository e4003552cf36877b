import { afterAll, beforeAll, beforeEach, expect } from '@jest/globals';
import { createTokenKeys, openToken } from '@longwave/delivery-token';
import { idFromBytes, newId } from '@longwave/ids';
import type { DecideRequest } from '@longwave/rpc/serving';
import { startFaultProxy } from '@longwave/test-kit';
import type { DeliveryApp } from '../src/app.ts';
import { askAt, type Ask } from './_ask.ts';
import { decideAds, publishHlsShow, storeTone, type TestAd, type TestTrack } from './_hls.ts';
import { storeSegment } from './_stitched.ts';
import { audio, openBench, type Bench } from './_support.ts';

export const folderOf = (main: string) => main.slice(0, main.lastIndexOf('/') + 1);

/** The token in an address. */
export const tokenOf = (url: string) => /t1\.[\w-]{100}/.exec(url)![0];

/** Another token of the same form. */
export const flipped = (token: string) => token.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));

/** The serving that a token names. */
export function servingOf(bench: Pick<Bench, 'environment'>, purpose: 'ada' | 'evt', url: string): string {
  const keys = createTokenKeys([Buffer.from(bench.environment['DELIVERY_TOKEN_SECRETS']!, 'hex')]);
  const opened = openToken(keys, purpose, 'media.test', tokenOf(url), Math.floor(Date.now() / 1000));
  return idFromBytes('srv', opened.claims!.subject);
}

/** The servings of a listener's play by MP3, in order. */
export async function servingsInMp3(
  bench: Pick<Bench, 'environment'>,
  ask: Ask,
  enclosure: string,
  listener: Record<string, string>,
): Promise<readonly string[]> {
  const { headers } = await ask(enclosure, listener);
  const { body } = await ask(headers.location!.replace(/[^/]+$/, 'timeline.json'));
  const reports = [...body.toString().matchAll(/"event_url":"([^"]+)"/g)];
  return reports.map(([, url]) => servingOf(bench, 'evt', url!));
}

interface BreakAddresses {
  readonly key: string;
  readonly asset_list: string;
  readonly vast: string;
}

export interface AssetList {
  readonly ASSETS: readonly { readonly URI: string; readonly DURATION: number }[];
}

/**
 * Shows with HLS and ads on real engines, for all tests of a file. By default a decision gives each slot an ad with its track, of one kind in
 * first slots and of another in second slots.
 * @param environment of the app
 */
export function createHlsPlays(environment: Readonly<Record<string, string>> = {}) {
  let bench: Bench;
  let app: DeliveryApp;
  let content: TestTrack;
  let ads: readonly TestAd[];
  const ask = askAt(() => app.port);

  beforeAll(async () => {
    bench = await openBench();
    app = await bench.start(environment);
    content = await storeTone(bench, 60, 440, [20_000]);
    ads = [
      { mp3: audio(420), tone: await storeTone(bench, 10, 660) },
      { mp3: audio(300), tone: await storeTone(bench, 7.2, 990) },
    ];
    for (const { mp3 } of ads) await storeSegment(bench, mp3);
  });
  afterAll(async () => {
    await app[Symbol.asyncDispose]();
    await bench.stop();
  });
  beforeEach(() => {
    bench.setClock(undefined);
    bench.serving.answer = async (request) => withAds(request);
    bench.serving.requests.length = 0;
  });

  /** @param clickUrl of every ad; '' for none */
  const withAds = (request: DecideRequest, clickUrl = '') => decideAds(request, ads, { clickUrl });

  /** A published show with a break before, in (two slots) and behind its content, and its entry. */
  const show = () =>
    publishHlsShow(bench, ask, content, [
      { key: 'm1', kind: 'mid', position_ms: 20_000, max_slots: 2 },
      { key: 'end', kind: 'post', position_ms: 60_000, max_slots: 1 },
    ]);

  /** The multivariant playlist of the listener's play. */
  async function enter({ entry }: { readonly entry: string }, listener: Record<string, string>): Promise<string> {
    const { status, headers } = await ask(entry, listener);
    expect(status).toBe(302);
    return headers.location!;
  }

  const playlistOf = async (main: string, listener = {}) =>
    (await ask(`${folderOf(main)}a192/media.m3u8`, listener)).body.toString();

  /** The addresses of the asset lists of a play, by break. */
  const listsOf = async (main: string) =>
    new Map(
      [...(await playlistOf(main)).matchAll(/ID="([^"]+)".*?X-ASSET-LIST="([^"]+)"/g)].map(([, id, url]) => [
        id!,
        url!,
      ]),
    );

  async function assetsAt(url: string, listener = {}): Promise<AssetList['ASSETS']> {
    const { status, body } = await ask(url, listener);
    expect(status).toBe(200);
    return (JSON.parse(body.toString()) as AssetList).ASSETS;
  }

  const bindingsOf = async ({ episodeId }: { readonly episodeId: string }) =>
    (
      await bench.pool.query<{ ads: Record<string, { serving_id: string }>; started_at: Date }>(
        'select ads, started_at from binding where episode_id = $1 order by sequence',
        [episodeId],
      )
    ).rows;

  /** One more app on the same engines, whose database and Redis a test may cut off. */
  async function startBehindProxy(extra: Readonly<Record<string, string>> = {}) {
    const stack = new AsyncDisposableStack();
    const through = async (name: 'DATABASE_URL' | 'REDIS_URL') => {
      const address = new URL(bench.environment[name]!);
      const proxy = stack.use(await startFaultProxy());
      proxy.aimAt({ host: address.hostname, port: Number(address.port) });
      address.host = `127.0.0.1:${proxy.port}`;
      return { proxy, url: { [name]: address.href } };
    };
    const [database, redis] = [await through('DATABASE_URL'), await through('REDIS_URL')];
    const folder = `${bench.folder}/own-${newId('req')}`;
    const folders = { CACHE_FOLDER: `${folder}/cache`, JOURNAL_FOLDER: `${folder}/journal` };
    const own = stack.use(await bench.start({ ...environment, ...folders, ...extra, ...database.url, ...redis.url }));
    return {
      ...{ database: database.proxy, redis: redis.proxy, ask: askAt(() => own.port) },
      [Symbol.asyncDispose]: () => stack.disposeAsync(),
    };
  }

  /** The addresses of the breaks of a play, by their keys, as its presentation binding tells them. */
  async function breaksOf(main: string) {
    const { body } = await ask('/delivery/v1/pb', {}, 'POST', JSON.stringify({ presentation_token: tokenOf(main) }));
    const { breaks } = JSON.parse(body.toString()) as { breaks: readonly BreakAddresses[] };
    return new Map(breaks.map((each) => [each.key, each]));
  }

  return {
    ...{ ask, startBehindProxy, breaksOf, show, withAds, enter, playlistOf, listsOf, assetsAt, bindingsOf },
    get bench() {
      return bench;
    },
    get content() {
      return content;
    },
    get ads() {
      return ads;
    },
  };
}
