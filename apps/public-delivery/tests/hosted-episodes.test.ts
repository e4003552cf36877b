import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { newId } from '@longwave/ids';
import { sha256, until } from '@longwave/test-kit';
import type { DeliveryApp } from '../src/app.ts';
import { applyEvent } from '../src/projection/apply/apply-event.ts';
import { next } from './_apply.ts';
import { askAt, bodyButTrace, newListener } from './_ask.ts';
import { applyNow, hosted, master, snapshotOf } from './_hosted.ts';
import { giveAds, storeSegment } from './_stitched.ts';
import { audio, eventOf, noAds, openBench, playedFacts, type Bench } from './_support.ts';

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

/** The address of the clean audio, to which resolutions and clean addresses lead. */
const cleanOf = ({ content, episodeId }: { readonly content: Buffer; readonly episodeId: string }) =>
  `/delivery/v1/a/${sha256(content)}/episode.mp3?e=${episodeId}`;

const giveAd = () => giveAds(bench, (key) => (key === 'pre' ? ad : undefined));
const unknown = async () => bodyButTrace(await ask('/delivery/v1/x/nobody/nothing.mp3'));

describe('a listener who has begun when an episode is revoked', () => {
  const addresses = ['path', 'enclosure'] as const;

  test.each(addresses)(
    'goes on with the same bytes at the %s for 24 hours with "stop_new"; nobody else gets it',
    async (address) => {
      giveAd();
      const show = await hosted(bench, { when_unavailable: 'source' });
      const at = show[address];
      const listener = newListener();
      const begun = bench.now().getTime();
      bench.setClock(new Date(begun));
      const location = String((await ask(at, listener)).headers.location);
      const played = await ask(location, listener);
      await applyNow(
        bench,
        next(show.snapshot, {}, { state: 'revoked' }),
        next(show.events.episode, {}, { state: 'unpublished' }),
      );
      bench.setClock(new Date(begun + 23 * 3_600_000));
      expect((await ask(at, listener)).headers.location).toBe(location);
      expect((await ask(location, listener)).body.equals(played.body)).toBe(true);
      const part = await ask(`${at}?direct=1`, { ...listener, range: 'bytes=5000-5999' });
      expect([part.status, part.body.equals(played.body.subarray(5000, 6000))]).toEqual([206, true]);
      expect((await ask(at, listener, 'HEAD')).status).toBe(302);
      const other = await ask(at, newListener());
      expect([other.status, bodyButTrace(other)]).toEqual([404, await unknown()]);
      bench.setClock(new Date(begun + 25 * 3_600_000));
      expect((await ask(at, listener)).status).toBe(404);
    },
  );

  test.each(addresses)('is ended at the %s with "stop_all"', async (address) => {
    const show = await hosted(bench);
    const listener = newListener();
    bench.setClock(new Date(Date.now() - 60_000));
    expect((await ask(show[address], listener)).status).toBe(302);
    bench.setClock(undefined);
    const ended = next(show.events.episode, { plays_end_before: new Date().toISOString() }, { state: 'unpublished' });
    await applyNow(bench, ended);
    expect((await ask(show[address], listener)).status).toBe(404);
  });

  test.each(addresses)('gets no ad at the %s that was halted since', async (address) => {
    giveAd();
    const show = await hosted(bench);
    const listener = newListener();
    const location = String((await ask(show[address], listener)).headers.location);
    const [{ ads }] = (
      await bench.pool.query<{ ads: Record<string, { creative_id: string }> }>(
        'select ads from binding where episode_id = $1',
        [show.episodeId],
      )
    ).rows as [{ ads: Record<string, { creative_id: string }> }];
    await applyNow(bench, next(show.events.episode, {}, { state: 'unpublished' }));
    expect((await ask(show[address], listener)).headers.location).toBe(location);
    const scope = { kind: 'creative', creative_id: ads['pre/0']!.creative_id };
    await applyNow(bench, eventOf('serving_halts', newId('hlt'), 1, 'active', { scope, cause: 'A complaint' }));
    expect((await ask(show[address], listener)).status).toBe(404);
  });

  test('of an archived episode or at a paused address does not go on there', async () => {
    for (const end of ['archive', 'pause'] as const) {
      const show = await hosted(bench);
      const listener = newListener();
      expect((await ask(show.path, listener)).status).toBe(302);
      await applyNow(
        bench,
        end === 'archive'
          ? next(show.events.episode, {}, { state: 'archived' })
          : next(show.alias, {}, { state: 'paused' }),
      );
      expect((await ask(show.path, listener)).status).toBe(404);
    }
  });
});

describe('the clean audio of an earlier version', () => {
  /** An episode whose second version has taken over, with the events of the first. */
  async function replaced(rights?: Record<string, unknown>) {
    const show = await hosted(bench);
    const { authorityId, sourceId, episodeId, podcastId } = show;
    const ready = { sha256: sha256(show.content), size_bytes: show.content.length, duration_ms: 60 * 24 };
    const first = next(show.snapshot, { rendition: ready });
    const content = audio(80);
    const production = newId('pro');
    const id = newId('csn');
    const stored = await storeSegment(bench, content);
    const second = snapshotOf(
      { authorityId, sourceId, version: 2, id },
      'ready',
      { podcast_id: podcastId, episode_id: episodeId, production_id: production },
      rights,
    );
    const episode = next(show.events.episode, { current_production_id: production, snapshot_id: id });
    await applyNow(
      bench,
      first,
      eventOf('productions', production, 1, 'encoded', {
        episode_id: episodeId,
        files: [{ role: 'rendition', ...stored }],
        audio_duration_ms: stored.duration_ms,
      }),
      episode,
      second,
    );
    return { ...show, first, second, episode, newest: { content, episodeId } };
  }
  const range = (from: number) => ({ ...newListener(), range: `bytes=${from}-` });
  const rest = async (show: Parameters<typeof cleanOf>[0]) => {
    const answer = await ask(cleanOf(show), range(5_000));
    return [answer.status, answer.body.equals(show.content.subarray(5_000))];
  };

  test('goes on when a newer one takes over, before and after it is superseded, and is counted', async () => {
    const show = await replaced();
    expect(await rest(show)).toEqual([206, true]);
    await applyNow(bench, next(show.first, {}, { state: 'superseded' }));
    expect(await rest(show)).toEqual([206, true]);
    expect(await rest(show.newest)).toEqual([206, true]);
    const whole = await ask(cleanOf(show), newListener());
    const fact = await until(() =>
      playedFacts(bench.facts).find((each) => each.request_id === whole.headers['x-request-id']),
    );
    expect([fact.episode_id, fact.arrangement_id]).toEqual([show.episodeId, sha256(show.content)]);
  });

  test('is gone at once when it, or a later version, is revoked', async () => {
    for (const which of ['first', 'second'] as const) {
      const show = await replaced();
      const superseded = next(show.first, {}, { state: 'superseded' });
      await applyNow(bench, superseded);
      expect((await ask(cleanOf(show), range(5_000))).status).toBe(206);
      await applyNow(bench, next(which === 'first' ? superseded : show.second, {}, { state: 'revoked' }));
      expect((await ask(cleanOf(show), range(5_000))).status).toBe(404);
    }
  });

  test('is served within the rights of the newest version alone, and not of an episode that is hidden', async () => {
    const show = await replaced({ territories: ['FR'] });
    await applyNow(bench, next(show.first, {}, { state: 'superseded' }));
    expect((await ask(cleanOf(show), range(5_000))).headers.location).toBe('https://host.example/master-2.mp3');
    const hidden = await replaced();
    await applyNow(bench, next(hidden.episode, {}, { state: 'unpublished' }));
    expect((await ask(cleanOf(hidden), range(5_000))).status).toBe(404);
    const archived = await replaced();
    await applyNow(bench, next(archived.episode, {}, { state: 'archived' }));
    expect((await ask(cleanOf(archived), range(5_000))).status).toBe(410);
  });
});

describe('rights', () => {
  // The bundled list of countries says where these addresses are.
  const german = (): Record<string, string> => ({
    ...newListener(),
    'x-forwarded-for': `194.25.0.${1 + Math.floor(Math.random() * 200)}`,
  });

  test.each(['platform_controlled', 'clean'])(
    'of some countries lead everybody else to the platform (route "%s"), and nothing is decided for them',
    async (route) => {
      giveAd();
      const there = await hosted(bench, { route }, { rights: { territories: ['FR', 'DE'] } });
      const elsewhere = await hosted(bench, { route }, { rights: { territories: ['FR', 'CA'] } });
      expect((await ask(there.path, german())).headers.location).toMatch(/^http:\/\/media\.test\//);
      bench.serving.requests.length = 0;
      expect((await ask(elsewhere.path, german())).headers.location).toBe(master);
      // Where a listener is, is not known of this address.
      expect((await ask(there.path, newListener())).headers.location).toBe(master);
      expect((await ask(elsewhere.enclosure, german())).headers.location).toBe(master);
      expect(bench.serving.requests).toEqual([]);
    },
  );

  test('hold at the clean address too', async () => {
    const there = await hosted(bench, {}, { rights: { territories: ['FR', 'DE'] } });
    const elsewhere = await hosted(bench, {}, { rights: { territories: ['FR', 'CA'] } });
    expect((await ask(cleanOf(there), german())).status).toBe(200);
    for (const [show, listener] of [
      [there, newListener()],
      [elsewhere, german()],
    ] as const) {
      const answer = await ask(cleanOf(show), { ...listener, range: 'bytes=0-99' });
      expect([answer.status, answer.headers.location, answer.headers['cache-control']]).toEqual([
        ...[302, master, 'private, no-store'],
      ]);
    }
    const end = Date.now() + 3_600_000;
    const limited = await hosted(bench, {}, { rights: { until: new Date(end).toISOString() } });
    const before = await ask(cleanOf(limited), newListener());
    expect([before.status, before.headers['cache-control']]).toEqual([200, 'private, max-age=86400']);
    bench.setClock(new Date(end));
    expect((await ask(cleanOf(limited), newListener())).headers.location).toBe(master);
    await applyNow(
      bench,
      next(limited.snapshot, {}, { state: 'lapsed' }),
      next(limited.events.episode, {}, { state: 'unpublished' }),
    );
    expect((await ask(cleanOf(limited), newListener())).headers.location).toBe(master);
  });

  test('that end lead everybody to the platform from then on, but who has begun finishes', async () => {
    const until = Date.now() + 3_600_000;
    const rights = { until: new Date(until).toISOString() };
    const show = await hosted(bench, {}, { rights });
    const clean = await hosted(bench, { route: 'clean' }, { rights });
    const listener = newListener();
    const begun = String((await ask(show.path, listener)).headers.location);
    expect(begun).toContain('/delivery/v1/p/');
    expect((await ask(clean.path, listener)).headers.location).toContain('/delivery/v1/a/');
    bench.setClock(new Date(until));
    const expectOver = async () => {
      for (const path of [show.path, show.enclosure]) {
        expect((await ask(path, listener)).headers.location).toBe(begun);
        expect((await ask(path, newListener())).headers.location).toBe(master);
      }
      expect((await ask(clean.path, listener)).headers.location).toBe(master);
    };
    await expectOver();
    // The same when the clock of management has hidden the episode.
    for (const { snapshot, events } of [show, clean])
      await applyNow(
        bench,
        next(snapshot, {}, { state: 'lapsed' }),
        next(events.episode, {}, { state: 'unpublished' }),
      );
    await expectOver();
  });

  test('that are not known yet let nobody be served', async () => {
    const show = await hosted(bench);
    const id = newId('csn');
    await applyNow(bench, next(show.events.episode, { snapshot_id: id }));
    for (const path of [show.path, show.enclosure]) expect((await ask(path, newListener())).status).toBe(404);
    const { authorityId, sourceId, episodeId } = show;
    await applyNow(bench, snapshotOf({ authorityId, sourceId, version: 2, id }, 'ready', { episode_id: episodeId }));
    for (const path of [show.path, show.enclosure]) expect((await ask(path, newListener())).status).toBe(302);
  });
});

test('an episode without ads is decided for nobody, and its plays are bound clean', async () => {
  giveAd();
  const markers = [{ key: 'm', kind: 'mid', position_ms: 20 * 24, max_slots: 2 }];
  const show = await hosted(bench, {}, { episode: { ads: 'none', markers } });
  const listener = newListener();
  const location = String((await ask(show.path, listener)).headers.location);
  const played = await ask(location, listener);
  expect(played.body.subarray(-show.content.length).equals(show.content)).toBe(true);
  expect(bench.serving.requests).toEqual([]);
  const { rows } = await bench.pool.query<{ ads: object }>('select ads from binding where episode_id = $1', [
    show.episodeId,
  ]);
  expect(rows).toEqual([{ ads: {} }]);
  await applyNow(bench, next(show.events.episode, { ads: undefined }));
  await ask(show.path, newListener());
  expect(bench.serving.requests).toHaveLength(1);
  expect((await ask(show.path, listener)).headers.location).toBe(location);
});

test('a podcast that another platform hosts has no feed, no page and no announcement; its plays have chapters and transcripts', async () => {
  const chapters = [{ start_ms: 0, title: 'Ebb' }];
  const show = await hosted(bench, {}, { content: audio(2_000), episode: { chapters } });
  const hosting = { hosted_by: { authority_id: show.authorityId, stream_id: 'show:1' } };
  const podcastId = newId('pod');
  const podcast = { ...next(show.events.podcast, hosting), subject: { type: 'podcasts', id: podcastId, version: 1 } };
  const subdomain = `hosted-${randomBytes(4).toString('hex')}`;
  const announced = { mintAlias: String, announcements: { names: ['websub'], afterMs: 1 } };
  await applyEvent(
    bench.pool,
    {
      ...podcast,
      after: { ...podcast.after, id: podcastId, version: 1, attributes: { ...podcast.after.attributes, subdomain } },
    },
    announced,
  );
  await applyEvent(bench.pool, next(show.events.episode, { podcast_id: podcastId }), announced);
  for (const path of [`/feeds/${subdomain}.xml`, `/site/${subdomain}`]) expect((await ask(path)).status).toBe(404);
  const { rows } = await bench.pool.query<{ n: number }>(
    'select count(*)::int as n from announcement where podcast_id = $1 union all select count(*)::int from feed where subdomain = $2',
    [podcastId, subdomain],
  );
  expect(rows).toEqual([{ n: 0 }, { n: 0 }]);
  const listener = newListener();
  const location = String((await ask(show.path, listener)).headers.location);
  const document = await ask(location.replace(/[^/]+$/, 'chapters.json'), listener);
  expect(JSON.parse(document.body.toString())).toMatchObject({ chapters: [{ startTime: 0, title: 'Ebb' }] });
});
