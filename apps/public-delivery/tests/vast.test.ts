import path from 'node:path';
import { VASTClient, VASTTracker } from '@dailymotion/vast-client';
import { expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { until } from '@longwave/test-kit';
import { validateXml } from '@longwave/test-kit/validate-xml';
import { withPrograms } from '@longwave/test-kit/with-programs';
import { parseVast, type InlineAd } from '@longwave/vast';
import { apply, next } from './_apply.ts';
import { bodyButTrace, newListener } from './_ask.ts';
import { createHlsPlays, flipped, tokenOf } from './_hls-plays.ts';
import { eventFacts, eventOf } from './_support.ts';

// Readers of VAST take https addresses only.
const world = createHlsPlays({ MEDIA_URL: 'https://media.test' });
const { ask, show, enter, breaksOf, assetsAt, bindingsOf } = world;

const boundedVast = path.join(import.meta.dirname, '../../../libs/vast/tests/bounded-vast.xsd');
const none = '<VAST xmlns="http://www.iab.com/VAST" version="4.2"/>';
const day = 86_400_000;

async function adsAt(url: string, listener = {}): Promise<readonly InlineAd[]> {
  const { status, body } = await ask(url, listener);
  expect(status).toBe(200);
  const document = parseVast(body);
  if (document.kind === 'empty') return [];
  if (document.kind !== 'inline') throw new Error(`the document is ${document.kind}`);
  expect([document.refusedAds, document.skippedWrappers]).toEqual([[], 0]);
  return document.ads;
}
const mediaOf = (ad: InlineAd, delivery: 'progressive' | 'streaming') =>
  ad.mediaFiles.find((file) => file.delivery === delivery)!.url;
/** A break of a new play of a listener. */
async function opportunity(listener: Record<string, string>, key = 'm1') {
  const made = await show();
  const main = await enter(made, listener);
  return { made, main, ...(await breaksOf(main)).get(key)! };
}

interface ReadAd {
  readonly creatives: readonly { readonly type: string }[];
}

/** Everything that a player can report of a linear ad. Answers where a click leads. */
function play(client: VASTClient, ad: ReadAd): string | undefined {
  const linear = ad.creatives.find(({ type }) => type === 'linear');
  const tracker = new VASTTracker(client, ad, linear);
  let clicked: string | undefined;
  tracker.on('clickthrough', (url: string) => void (clicked = url));
  tracker.trackImpression();
  for (let second = 0; second <= Math.ceil(tracker.assetDuration); second++) tracker.setProgress(second);
  tracker.setMuted(true);
  tracker.setMuted(false);
  tracker.setPaused(true);
  tracker.setPaused(false);
  tracker.click();
  tracker.skip();
  tracker.error({ ERRORCODE: '405' });
  tracker.complete();
  return clicked;
}

test.each(['VAST', 'asset lists', 'MP3'])(
  'each break has the ads of its asset list and of the MP3, when the %s come first',
  async (first) => {
    const made = await show();
    const listener = newListener();
    const breaks = [...(await breaksOf(await enter(made, listener))).values()];
    const byList = async () => (await Promise.all(breaks.map((each) => assetsAt(each.asset_list, listener)))).flat();
    if (first === 'MP3') await ask(made.enclosure, listener);
    if (first === 'asset lists') await byList();
    const ads = (await Promise.all(breaks.map(({ vast }) => adsAt(vast, listener)))).flat();
    expect(ads.map((ad) => mediaOf(ad, 'streaming'))).toEqual((await byList()).map(({ URI }) => URI));
    await ask(made.enclosure, listener);
    const bound = await bindingsOf(made);
    expect(bound).toHaveLength(1);
    const servings = ['pre/0', 'm1/0', 'm1/1', 'end/0'].map((slot) => bound[0]!.ads[slot]!.serving_id);
    expect(ads.map(({ servingId }) => servingId)).toEqual(servings);
    expect(world.bench.serving.requests).toHaveLength(1);
  },
);

test('an ad has its creative, its length and its files, and its MP3 is sent by ranges without being counted', async () => {
  const listener = newListener();
  const { made, vast } = await opportunity(listener);
  const ads = await adsAt(vast, listener);
  expect(ads).toMatchObject([
    {
      sequence: 1,
      adType: 'audio',
      title: 'crv_m1_0',
      creativeId: 'crv_m1_0',
      durationMs: 10_080,
      expiresSeconds: 86_400,
    },
    {
      sequence: 2,
      adType: 'audio',
      title: 'crv_m1_1',
      creativeId: 'crv_m1_1',
      durationMs: 7_200,
      clickThroughUrl: undefined,
    },
  ]);
  expect(ads[0]!.mediaFiles).toMatchObject([
    { type: 'audio/mpeg', codec: 'mp3', kbps: 128 },
    { type: 'application/vnd.apple.mpegurl' },
  ]);
  for (const [place, ad] of ads.entries()) {
    const { status, headers, body } = await ask(mediaOf(ad, 'progressive'), listener);
    expect([status, headers['content-type'], headers['cache-control'], headers['accept-ranges']]).toEqual([
      ...[200, 'audio/mpeg', 'private, max-age=31536000, immutable', 'bytes'],
    ]);
    expect(body.equals(world.ads[place]!.mp3)).toBe(true);
  }
  const part = await ask(mediaOf(ads[0]!, 'progressive'), { ...listener, range: 'bytes=384-767' });
  expect([part.status, part.body.equals(world.ads[0]!.mp3.subarray(384, 768))]).toEqual([206, true]);
  expect((await ask(mediaOf(ads[0]!, 'streaming'), listener)).status).toBe(200);
  // Facts keep their order, so those of the ranges above would be here.
  await ask(ads[0]!.trackers.find(({ event }) => event === 'complete')!.url, listener);
  const ofEpisode = () =>
    world.bench.facts.filter((fact) => 'episode_id' in fact && fact.episode_id === made.episodeId);
  const told = await until('the report', async () =>
    ofEpisode().some(({ kind }) => kind === 'delivery_event') ? ofEpisode() : undefined,
  );
  expect(told.map(({ kind }) => kind)).not.toContain('byte_range_served');
  expect(told.map(({ kind }) => kind)).not.toContain('media_range_served');
});

test('a document is repeated byte for byte, whoever asks and after hours, and names nothing of a campaign', async () => {
  const listener = newListener();
  const { made, vast } = await opportunity(listener);
  const first = await ask(vast, listener);
  const { 'content-type': type, 'cache-control': cache, 'access-control-allow-origin': origin } = first.headers;
  expect([type, cache, origin]).toEqual(['application/xml', 'private, no-store', '*']);
  const { rows } = await world.bench.pool.query<{ ads: Record<string, { campaign_id: string; line_item_id: string }> }>(
    'select ads from binding where episode_id = $1',
    [made.episodeId],
  );
  for (const { campaign_id: campaign, line_item_id: lineItem } of Object.values(rows[0]!.ads))
    for (const secret of [campaign, lineItem]) expect(first.body.toString()).not.toContain(secret);
  const head = await ask(vast, listener, 'HEAD');
  expect([head.status, head.headers['content-length']]).toEqual([200, String(first.body.length)]);
  const others = [await ask(`${vast}?cb=1`, newListener()), await ask(vast, { 'user-agent': 'Googlebot/2.1' })];
  world.bench.setClock(new Date(Date.now() + 23 * 3_600_000));
  others.push(await ask(vast, listener));
  for (const { body } of others) expect(body.equals(first.body)).toBe(true);
  expect(world.bench.serving.requests).toHaveLength(1);
});

withPrograms('TEST_XMLLINT')('a break with ads, and one without, are valid by the schema of our bounds', async () => {
  const listener = newListener();
  const { made, main } = await opportunity(listener);
  world.bench.serving.answer = async (request) => world.withAds(request, 'https://shop.example/tea');
  const texts = await Promise.all(
    [...(await breaksOf(main)).values()].map(async ({ vast }) => (await ask(vast, listener)).body.toString()),
  );
  const [unasked] = [...(await breaksOf(await enter(made, newListener()))).values()];
  texts.push((await ask(unasked!.vast, { 'user-agent': 'Googlebot/2.1' })).body.toString());
  expect(texts.filter((text) => text.includes('<ClickThrough'))).toHaveLength(3);
  const verdicts = await validateXml(boundedVast, texts);
  expect(verdicts.map((line) => line.replace(/^\S+ /, ''))).toEqual(texts.map(() => 'validates'));
});

test('nothing is decided for who only looks', async () => {
  const { made, vast } = await opportunity(newListener());
  expect((await ask(vast, newListener(), 'HEAD')).status).toBe(200);
  for (const agent of ['Googlebot/2.1 (+http://www.google.com/bot.html)', 'iTMS Scout/1.0'])
    expect((await ask(vast, { ...newListener(), 'user-agent': agent })).body.toString()).toBe(none);
  expect([world.bench.serving.requests.length, (await bindingsOf(made)).length]).toEqual([0, 0]);
});

test('a halted ad is left out and its MP3 is gone; a halt of the surface leaves VAST alone without ads', async () => {
  const listener = newListener();
  const { vast, asset_list: list } = await opportunity(listener);
  const [halted, kept] = await adsAt(vast, listener);
  const halt = (scope: Record<string, unknown>) =>
    eventOf('serving_halts', newId('hlt'), 1, 'active', { scope, cause: 'x' });
  const ofCreative = halt({ kind: 'creative', creative_id: 'crv_m1_0' });
  await apply(world.bench, ofCreative);
  const remaining = (ads: number) => until(`${ads} ads`, async () => (await adsAt(vast, listener)).length === ads);
  await remaining(1);
  expect(await adsAt(vast, listener)).toEqual([{ ...kept, sequence: 1 }]);
  const statusOf = async (ad: InlineAd) => (await ask(mediaOf(ad, 'progressive'))).status;
  expect([await statusOf(halted!), await statusOf(kept!)]).toEqual([410, 200]);
  const ofSurface = halt({ kind: 'surface', surface: 'vast' });
  await apply(world.bench, next(ofCreative, {}, { state: 'released' }), ofSurface);
  await remaining(0);
  expect(await statusOf(kept!)).toBe(410);
  expect(await assetsAt(list, listener)).toHaveLength(2);
  await apply(world.bench, next(ofSurface, {}, { state: 'released' }));
  await remaining(2);
  expect(await adsAt(vast, listener)).toEqual([halted, kept]);
});

test('tokens that are flipped, of another purpose or older than 24 hours get the same 404', async () => {
  const { main, vast, asset_list: list } = await opportunity(newListener());
  const at = (token: string) => ask(`/delivery/v1/v/${token}`);
  const refused = [
    await at(flipped(tokenOf(vast))),
    await at(tokenOf(list)),
    await at(tokenOf(main)),
    await at('none'),
  ];
  refused.push(await ask(`/delivery/v1/al/${tokenOf(vast)}`), await ask(`/delivery/v1/ad/${tokenOf(vast)}/ad.mp3`));
  world.bench.setClock(new Date(Date.now() + day + 1_000));
  refused.push(await ask(vast));
  expect(new Set(refused.map((answer) => `${answer.status} ${bodyButTrace(answer)}`)).size).toBe(1);
  expect([refused[0]!.status, world.bench.serving.requests.length]).toEqual([404, 0]);
});

test('a play of an archived episode is gone', async () => {
  const listener = newListener();
  const { made, vast } = await opportunity(listener);
  const [ad] = await adsAt(vast, listener);
  await apply(world.bench, next(made.events.episode, {}, { state: 'archived' }));
  await until('the end', async () => (await ask(vast, listener)).status === 410);
  expect([(await ask(vast, listener)).status, (await ask(mediaOf(ad!, 'progressive'))).status]).toEqual([410, 410]);
});

test('while decisions or the database are away there is no ad, and no error', async () => {
  const listener = newListener();
  const { vast } = await opportunity(listener);
  const { vast: later, main } = await opportunity(listener);
  await using own = await world.startBehindProxy({ DECIDE_DEADLINE_MS: '300' });
  world.bench.serving.answer = () => new Promise(() => undefined);
  expect((await own.ask(vast, listener)).body.toString()).toBe(none);
  // Read once, the play is in memory.
  await own.ask(main, listener);
  await own.database.cut('refused');
  const { status, body } = await own.ask(later, listener);
  expect([status, body.toString()]).toEqual([200, none]);
});

test('vast-client plays the ads through, and its reports are events of their servings', async () => {
  world.bench.serving.answer = async (request) => world.withAds(request, 'https://shop.example/tea');
  const listener = newListener();
  const { made, vast } = await opportunity(listener);
  const { body } = await ask(vast, listener);
  const client = new VASTClient();
  const { ads } = (await client.get(`data:application/xml;base64,${body.toString('base64')}`)) as {
    readonly ads: readonly ReadAd[];
  };
  const called: string[] = [];
  // Where there is a window, it calls addresses as pictures.
  const browser = {
    window: {},
    Image: class {
      set src(url: string) {
        called.push(url);
      }
    },
  };
  Object.assign(globalThis, browser);
  let clicked: string | undefined;
  try {
    for (const ad of ads) clicked = play(client, ad);
  } finally {
    for (const name of Object.keys(browser)) Reflect.deleteProperty(globalThis, name);
  }
  for (const url of called) {
    const { status, headers } = await ask(url, listener);
    expect([status, headers['content-type']]).toEqual([200, 'image/gif']);
  }
  const { status, headers } = await ask(clicked!, listener);
  expect([status, headers.location]).toEqual([302, 'https://shop.example/tea']);
  const kinds = [
    'complete',
    'error',
    'first_quartile',
    'impression',
    'midpoint',
    'mute',
    'pause',
    'resume',
    'skip',
    'start',
    'third_quartile',
    'unmute',
  ];
  const [binding] = await bindingsOf(made);
  const told = await until('the reports', async () => {
    const found = eventFacts(world.bench.facts).filter(({ episode_id: id }) => id === made.episodeId);
    return found.length > 2 * kinds.length ? found : undefined;
  });
  for (const [place, slot] of ['m1/0', 'm1/1'].entries()) {
    const ofServing = told.filter(({ serving_id: id }) => id === binding!.ads[slot]!.serving_id);
    const expected = place === 1 ? [...kinds, 'click'] : kinds;
    expect(ofServing.map(({ event }) => event).toSorted()).toEqual(expected.toSorted());
  }
});
