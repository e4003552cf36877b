import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { newId } from '@longwave/ids';
import { sha256, until } from '@longwave/test-kit';
import type { DeliveryApp } from '../src/app.ts';
import { apply, next, ofWorkspace } from './_apply.ts';
import { askAt, bodyButTrace, newListener } from './_ask.ts';
import { aliasOf, applyNow, grantOf, hosted, master, pathOf, snapshotOf } from './_hosted.ts';
import { giveAds, publishShow, storeSegment } from './_stitched.ts';
import { audio, eventOf, noAds, openBench, playedFacts, workspaceId, type Bench } from './_support.ts';

let bench: Bench;
let app: DeliveryApp;
const ask = askAt(() => app.port);
const ad = audio(40);

beforeAll(async () => {
  bench = await openBench();
  app = await bench.start();
  await storeSegment(bench, ad);
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await bench.stop();
});
beforeEach(() => {
  bench.serving.answer = async (request) => noAds(request);
  bench.serving.requests.length = 0;
  bench.setClock(undefined);
});

const giveAd = () => giveAds(bench, (key) => (key === 'pre' ? ad : undefined));
const unknown = async () => bodyButTrace(await ask('/delivery/v1/x/nobody/nothing.mp3'));

describe('an address that another platform chose', () => {
  test('is played as the enclosure is: a listener of both has one play with the same ads, which is decided once', async () => {
    giveAd();
    const { path, enclosure, content } = await hosted(bench);
    const listener = newListener();
    const first = await ask(path, listener);
    expect([first.status, first.headers['cache-control'], first.headers['accept-ranges']]).toEqual([
      302,
      'private, no-store',
      'bytes',
    ]);
    expect((await ask(enclosure, listener)).headers.location).toBe(first.headers.location);
    expect((await ask(path, listener)).headers.location).toBe(first.headers.location);
    expect(bench.serving.requests).toHaveLength(1);
    const played = await ask(String(first.headers.location), listener);
    expect(played.body.includes(ad) && played.body.includes(content)).toBe(true);
    const direct = await ask(`${path}?direct=1`, listener);
    expect([direct.status, direct.body.equals(played.body)]).toEqual([200, true]);
  });

  test('gives HEAD, ranges and the name of a saved file as the enclosure does, and decides nothing for HEAD', async () => {
    giveAd();
    const { path } = await hosted(bench);
    const listener = newListener();
    const head = await ask(`${path}?direct=1`, listener, 'HEAD');
    expect([head.status, head.body.length, bench.serving.requests.length]).toEqual([200, 0, 0]);
    const whole = await ask(`${path}?direct=1&download=1`, listener);
    expect(whole.headers['content-disposition']).toBe('attachment; filename="Show.One_1~a.mp3"');
    const part = await ask(`${path}?direct=1`, { ...listener, range: 'bytes=1000-1099' });
    expect([part.status, part.body.equals(whole.body.subarray(1000, 1100))]).toEqual([206, true]);
    expect((await ask(`${path}?download=1`, listener)).headers.location).toMatch(/\.mp3\?download=1$/);
    expect((await ask(path, {}, 'POST')).status).toBe(405);
  });

  test('is counted as a play of its episode', async () => {
    const { path, episodeId, podcastId } = await hosted(bench);
    const played = await ask(`${path}?direct=1`, newListener());
    const fact = await until(() =>
      playedFacts(bench.facts).find((each) => each.request_id === played.headers['x-request-id']),
    );
    expect([fact.episode_id, fact.podcast_id, fact.workspace_id]).toEqual([episodeId, podcastId, workspaceId]);
  });

  test.each(['ad_free', 'clean'])(
    'with route "%s" leads to the audio as it is: no decision, nothing bound, and it is counted',
    async (route) => {
      giveAd();
      const { path, content, episodeId } = await hosted(bench, { route });
      const listener = newListener();
      const answer = await ask(path, listener);
      expect([answer.status, answer.headers.location]).toEqual([
        302,
        `http://media.test/delivery/v1/a/${sha256(content)}/one-the-groe.mp3?e=${episodeId}`,
      ]);
      expect((await ask(`${path}?download=1`, listener)).headers.location).toBe(
        `${answer.headers.location}&download=1`,
      );
      const direct = await ask(`${path}?direct=1`, listener);
      expect([direct.body.equals(content), direct.headers['cache-control']]).toEqual([true, 'private, no-store']);
      const played = await ask(String(answer.headers.location), listener);
      expect(played.body.equals(content)).toBe(true);
      expect(bench.serving.requests).toEqual([]);
      expect((await bench.pool.query('select from binding where episode_id = $1', [episodeId])).rows).toEqual([]);
      const fact = await until(() =>
        playedFacts(bench.facts).find((each) => each.request_id === played.headers['x-request-id']),
      );
      expect(fact.arrangement_id).toBe(sha256(content));
    },
  );

  test('with route "source" leads to the file of the platform, also before we have encoded it', async () => {
    const { path } = await hosted(bench, { route: 'source' });
    expect((await ask(path, newListener())).headers.location).toBe(master);
    const [authorityId, sourceId] = [newId('agr'), 'ep-new'];
    const alias = aliasOf({ authorityId, sourceId }, { route: 'source' });
    await apply(bench, alias, snapshotOf({ authorityId, sourceId, version: 4 }, 'received'));
    const answer = await ask(pathOf(alias), newListener());
    expect([answer.status, answer.headers.location]).toEqual([302, 'https://host.example/master-4.mp3']);
  });

  test.each([
    ['source', [302, master]],
    ['gone', [404, undefined]],
  ] as const)('that is paused answers as when_unavailable "%s" says', async (when_unavailable, expected) => {
    for (const route of ['platform_controlled', 'clean']) {
      const { path } = await hosted(bench, { state: 'paused', route, when_unavailable });
      const answer = await ask(path, newListener());
      expect([answer.status, answer.headers.location]).toEqual(expected);
      if (answer.status === 404) expect(bodyButTrace(answer)).toBe(await unknown());
    }
  });

  test('that is retired is 410 for ever, also when the address is registered again', async () => {
    const one = await hosted(bench, { state: 'retired' });
    expect((await ask(one.path, newListener())).status).toBe(410);
    const { host, path_slug } = one.alias.after.attributes as { host: string; path_slug: string };
    await apply(bench, aliasOf(one, { host, path_slug }));
    expect((await ask(one.path, newListener())).status).toBe(410);
    expect((await ask(one.path, newListener(), 'HEAD')).status).toBe(410);
  });

  test('follows its newest version within a second, and never goes back to an older one', async () => {
    const { path, alias } = await hosted(bench);
    const paused = next(alias, {}, { state: 'paused', by: 2 });
    const resumed = next(alias, {}, { state: 'active', by: 3 });
    await applyNow(bench, paused, next(alias, {}, { state: 'active' }));
    expect((await ask(path, newListener())).status).toBe(404);
    await applyNow(bench, resumed, paused);
    expect((await ask(path, newListener())).status).toBe(302);
    await applyNow(
      bench,
      next(alias, { route_policy: { surface_id: 'apps', route: 'source', when_unavailable: 'gone' } }, { by: 4 }),
    );
    expect((await ask(path, newListener())).headers.location).toBe(master);
  });

  test.each(['one.m3u8', 'one', 'one.MP3', '.mp3', '-a.mp3', `${'a'.repeat(121)}.mp3`, 'a%2Fb.mp3'])(
    'with the file %s is as unknown as any other',
    async (file) => {
      const { alias } = await hosted(bench, { path_slug: 'one' });
      const answer = await ask(`/delivery/v1/x/${String(alias.after.attributes['host'])}/${file}`, newListener());
      expect([answer.status, bodyButTrace(answer)]).toEqual([404, await unknown()]);
    },
  );
});

describe('nothing but its own source', () => {
  test('is behind an address: what another authority or workspace says of the same source is not looked at', async () => {
    const theirs = await hosted(bench);
    const { sourceId } = theirs;
    const ours = newId('agr');
    const alias = aliasOf({ authorityId: ours, sourceId });
    // Another authority has a version of this source; another workspace has one under our authority.
    const foreign = snapshotOf({ authorityId: ours, sourceId }, 'ready', { episode_id: theirs.episodeId });
    await apply(bench, alias, ofWorkspace(foreign, newId('ws')));
    for (const route of ['platform_controlled', 'clean', 'source']) {
      const by = { platform_controlled: 1, clean: 2, source: 3 }[route]!;
      await applyNow(bench, next(alias, { route_policy: { route, when_unavailable: 'source' } }, { by }));
      const answer = await ask(pathOf(alias), newListener());
      expect([route, answer.status, bodyButTrace(answer)]).toEqual([route, 404, await unknown()]);
    }
  });

  test('of its workspace: a version that names an episode of another workspace serves nothing', async () => {
    const theirs = await publishShow(bench, audio(20));
    const [authorityId, sourceId] = [newId('agr'), 'ep-1'];
    const alias = aliasOf({ authorityId, sourceId }, { when_unavailable: 'gone' });
    const mine = newId('ws');
    await apply(
      bench,
      ofWorkspace(alias, mine),
      ofWorkspace(snapshotOf({ authorityId, sourceId }, 'ready', { episode_id: theirs.episodeId }), mine),
    );
    expect((await ask(pathOf(alias), newListener())).status).toBe(404);
  });

  test('takes an address over: the alias that had it first keeps it', async () => {
    const first = await hosted(bench);
    const { host, path_slug } = first.alias.after.attributes as { host: string; path_slug: string };
    const second = await hosted(bench, { host, path_slug, route: 'source' });
    expect(second.path).toBe(first.path);
    expect((await ask(first.path, newListener())).headers.location).toContain('/delivery/v1/p/');
  });
});

describe('what serves', () => {
  test('is the newest version that is ready, in whatever order the events come', async () => {
    const { authorityId, sourceId, path, snapshot, episodeId, alias } = await hosted(bench, { route: 'source' });
    const mapped = { episode_id: episodeId };
    const second = snapshotOf({ authorityId, sourceId, version: 2 }, 'failed', mapped);
    const third = snapshotOf({ authorityId, sourceId, version: 3 }, 'encoding', mapped);
    await applyNow(bench, third, second);
    expect((await ask(path, newListener())).headers.location).toBe(master);
    await applyNow(bench, next(third, {}, { state: 'ready', by: 2 }), next(third, {}, { state: 'failed' }));
    expect((await ask(path, newListener())).headers.location).toBe('https://host.example/master-3.mp3');
    await applyNow(bench, next(snapshot, {}, { state: 'superseded' }));
    expect((await ask(path, newListener())).headers.location).toBe('https://host.example/master-3.mp3');
    expect(alias.after.version).toBe(1);
  });

  test.each([
    ['is not mapped yet', 'received', false, 'published'],
    ['is not encoded yet', 'encoding', true, 'draft'],
    ['failed', 'failed', true, 'draft'],
    ['was hidden here', 'ready', true, 'unpublished'],
  ])(
    'is nothing while the episode %s: the address answers as when_unavailable says',
    async (_why, state, mapped, episodeState) => {
      const show = await publishShow(bench, audio(20));
      if (episodeState !== 'published') await apply(bench, next(show.events.episode, {}, { state: episodeState }));
      const [authorityId, sourceId] = [newId('agr'), 'ep-1'];
      await apply(bench, snapshotOf({ authorityId, sourceId }, state, mapped ? { episode_id: show.episodeId } : {}));
      for (const route of ['platform_controlled', 'clean']) {
        const gone = aliasOf({ authorityId, sourceId }, { route });
        const source = aliasOf({ authorityId, sourceId }, { route, when_unavailable: 'source' });
        await apply(bench, gone, source);
        const [refused, led] = [await ask(pathOf(gone), newListener()), await ask(pathOf(source), newListener())];
        expect([refused.status, bodyButTrace(refused)]).toEqual([404, await unknown()]);
        expect([led.status, led.headers.location]).toEqual([302, master]);
      }
    },
  );

  test('is never a file that its platform has revoked, whatever the address says', async () => {
    for (const policy of [
      { route: 'source' },
      { when_unavailable: 'source' },
      { state: 'paused', when_unavailable: 'source' },
    ]) {
      const { path, snapshot, events } = await hosted(bench, policy);
      await applyNow(
        bench,
        next(snapshot, {}, { state: 'revoked' }),
        next(events.episode, {}, { state: 'unpublished' }),
      );
      const answer = await ask(path, newListener());
      expect([answer.status, bodyButTrace(answer)]).toEqual([404, await unknown()]);
    }
  });

  test('is the file of the newer version, also when the rights of the revoked one have ended', async () => {
    const rights = { until: '2026-11-20T00:00:00Z' };
    const { authorityId, sourceId, path, snapshot, events } = await hosted(
      bench,
      { when_unavailable: 'source' },
      { rights },
    );
    await applyNow(
      bench,
      next(snapshot, {}, { state: 'revoked' }),
      next(events.episode, {}, { state: 'unpublished' }),
      snapshotOf({ authorityId, sourceId, version: 2 }, 'received'),
    );
    expect((await ask(path, newListener())).headers.location).toBe('https://host.example/master-2.mp3');
  });

  test('after a revocation is the newer version, once there is one', async () => {
    const { authorityId, sourceId, path, snapshot, episodeId } = await hosted(bench, { route: 'source' });
    await applyNow(bench, next(snapshot, {}, { state: 'revoked' }));
    expect((await ask(path, newListener())).status).toBe(404);
    await applyNow(bench, snapshotOf({ authorityId, sourceId, version: 3 }, 'received', { episode_id: episodeId }));
    expect((await ask(path, newListener())).headers.location).toBe('https://host.example/master-3.mp3');
  });
});

describe('the file of a platform', () => {
  /** Policies by which an address leads there; the last one only while the episode is not published. */
  const policies = [
    { route: 'source' },
    { route: 'clean', state: 'paused', when_unavailable: 'source' },
    { route: 'clean', when_unavailable: 'source' },
  ];
  const expectGone = async ({ path }: { readonly path: string }) => {
    const answer = await ask(path, newListener());
    expect([answer.status, bodyButTrace(answer)]).toEqual([404, await unknown()]);
  };
  const expectLed = async ({ path }: { readonly path: string }) =>
    expect((await ask(path, newListener())).headers.location).toBe(master);

  test.each(['episode', 'podcast'] as const)(
    'is behind no address once the %s is archived here, and while it is hidden it is',
    async (which) => {
      for (const policy of policies) {
        const show = await hosted(bench, policy);
        await applyNow(bench, next(show.events[which], {}, { state: 'unpublished' }));
        await expectLed(show);
        await applyNow(bench, next(show.events[which], {}, { state: 'archived', by: 2 }));
        await expectGone(show);
      }
    },
  );

  test('is behind no address of a stream whose podcast is archived here, also before a version is mapped; others go on', async () => {
    const [authorityId, sourceId] = [newId('agr'), 'ep-1'];
    const alias = aliasOf({ authorityId, sourceId }, { route: 'source' });
    const podcastOf = (streamId: string) =>
      eventOf('podcasts', newId('pod'), 1, 'unpublished', {
        ...{ title: 'Tides', subdomain: `s-${newId('pod').slice(-20)}`, podcast_guid: randomUUID(), language: 'en' },
        hosted_by: { authority_id: authorityId, stream_id: streamId },
      });
    const [podcast, other] = [podcastOf('show:1'), podcastOf('show:2')];
    await apply(bench, alias, podcast, snapshotOf({ authorityId, sourceId }, 'failed'));
    await applyNow(bench, next(other, {}, { state: 'archived' }));
    await expectLed({ path: pathOf(alias) });
    await applyNow(bench, next(podcast, {}, { state: 'archived' }));
    await expectGone({ path: pathOf(alias) });
  });

  test.each(['revoked', 'expired'])(
    'is behind no address once the authority is %s; what we serve goes on',
    async (end) => {
      for (const policy of policies.slice(0, 2)) {
        const show = await hosted(bench, policy);
        // The event of its activation comes late, or never.
        await expectLed(show);
        const active = grantOf(show.authorityId, 'active');
        await applyNow(bench, active);
        await expectLed(show);
        await applyNow(bench, next(active, {}, { state: end }));
        await expectGone(show);
        await applyNow(bench, active);
        await expectGone(show);
      }
      for (const route of ['platform_controlled', 'clean']) {
        const show = await hosted(bench, { route, when_unavailable: 'source' });
        await applyNow(bench, grantOf(show.authorityId, end));
        const played = await ask(String((await ask(show.path, newListener())).headers.location), newListener());
        expect([played.status, played.body.includes(show.content)]).toEqual([200, true]);
      }
      const elsewhere = await hosted(bench, { route: 'clean' }, { rights: { territories: ['FR'] } });
      const clean = `/delivery/v1/a/${sha256(elsewhere.content)}/x.mp3?e=${elsewhere.episodeId}`;
      const paths = [elsewhere.path, elsewhere.enclosure, clean];
      for (const path of paths) await expectLed({ path });
      await applyNow(bench, grantOf(elsewhere.authorityId, end));
      for (const path of paths) await expectGone({ path });
    },
  );

  test('does not hang on grants of people or of other workspaces, and a retired address stays 410 after the authority', async () => {
    const show = await hosted(bench, { route: 'source' });
    await applyNow(bench, grantOf(show.authorityId, 'revoked', { user_id: newId('usr') }));
    await expectLed(show);
    await applyNow(bench, ofWorkspace(grantOf(show.authorityId, 'revoked'), newId('ws')));
    await expectLed(show);
    const retired = await hosted(bench, { state: 'retired' });
    await applyNow(bench, grantOf(retired.authorityId, 'revoked'));
    expect((await ask(retired.path, newListener())).status).toBe(410);
  });
});
