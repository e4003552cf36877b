import { describe, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { eraseListeners } from '../src/plays/listener-erasure-table.ts';
import { applySeen, next } from './_apply.ts';
import { askAt, newListener } from './_ask.ts';
import { createHlsPlays, folderOf, servingOf, servingsInMp3, type AssetList } from './_hls-plays.ts';
import { eventOf, workspaceId } from './_support.ts';

const world = createHlsPlays();
const { ask, show, enter, listsOf, assetsAt, bindingsOf } = world;

/** One more process on the same engines. */
const startAnother = (name: string, extra: Readonly<Record<string, string>> = {}) =>
  world.bench.start({
    CACHE_FOLDER: `${world.bench.folder}/${name}`,
    JOURNAL_FOLDER: `${world.bench.folder}/${name}-journal`,
    ...extra,
  });

describe('one listener', () => {
  test('has the same ads in the same order by HLS and by the MP3, whichever comes first and also both at once in two processes', async () => {
    const made = await show();
    const second = await startAnother('second');
    const askSecond = askAt(() => second.port);
    const compare = async (listener: Record<string, string>, order: 'mp3' | 'hls' | 'both') => {
      const byMp3 = () => askSecond(made.enclosure, listener);
      const byHls = async () => {
        const lists = await listsOf(await enter(made, listener));
        return (await Promise.all([...lists.values()].map((url) => assetsAt(url, listener)))).flat();
      };
      if (order === 'mp3') await byMp3();
      const [assets] = await Promise.all([byHls(), ...(order === 'both' ? [byMp3()] : [])]);
      if (order === 'hls') await byMp3();
      const inMp3 = await servingsInMp3(world.bench, askSecond, made.enclosure, listener);
      expect(assets.map(({ URI }) => servingOf(world.bench, 'ada', URI))).toEqual(inMp3);
      expect(inMp3).toHaveLength(4);
    };
    try {
      await compare(newListener(), 'mp3');
      await compare(newListener(), 'hls');
      for (let attempt = 0; attempt < 100; attempt++) await compare(newListener(), 'both');
    } finally {
      await second[Symbol.asyncDispose]();
    }
  });
});

describe('a play that nothing is decided for yet', () => {
  test('stays undecided while ads are halted by HLS, and has them once the halt is lifted', async () => {
    const made = await show();
    const listener = newListener();
    const url = (await listsOf(await enter(made, listener))).get('pre')!;
    const halt = eventOf('serving_halts', newId('hlt'), 1, 'active', {
      scope: { kind: 'surface', surface: 'hls' },
      cause: 'x',
    });
    await applySeen(world.bench, halt);
    expect([await assetsAt(url, listener), world.bench.serving.requests.length]).toEqual([[], 0]);
    await applySeen(world.bench, next(halt, {}, { state: 'released' }));
    expect(await assetsAt(url, listener)).toHaveLength(1);
  });

  test('counts again for the limit of its address when it has waited, so that plays cannot be saved up', async () => {
    const own = await startAnother('few', { NEW_PLAYS_PER_ADDRESS_AND_MINUTE: '2' });
    const askOwn = askAt(() => own.port);
    try {
      const made = await show();
      const from = newListener()['x-forwarded-for']!;
      const begun = Date.now();
      const urls: string[] = [];
      for (let app = 0; app < 6; app++) {
        world.bench.setClock(new Date(begun + app * 60_000));
        const listener = { 'user-agent': `AntennaPod/3.${app}`, 'x-forwarded-for': from };
        const { headers } = await askOwn(made.entry, listener);
        const playlist = (await askOwn(`${folderOf(headers.location!)}a192/media.m3u8`, listener)).body.toString();
        urls.push(/X-ASSET-LIST="([^"]+)"/.exec(playlist)![1]!);
      }
      world.bench.setClock(new Date(begun + 3_600_000));
      const lists = await Promise.all(
        urls.map((url) => askOwn(url, { 'user-agent': 'AntennaPod/3.0', 'x-forwarded-for': from })),
      );
      expect(
        lists
          .map(({ status, body }) => [status, body.toString() === '{"ASSETS":[]}'])
          .filter(([, isEmpty]) => !isEmpty),
      ).toHaveLength(2);
      expect(world.bench.serving.requests).toHaveLength(2);
    } finally {
      await own[Symbol.asyncDispose]();
    }
  });

  test('is decided once although two processes are asked days later, after the listener has begun another one', async () => {
    const made = await show();
    const listener = newListener();
    const url = (await listsOf(await enter(made, listener))).get('m1')!;
    const second = await startAnother('late');
    try {
      world.bench.setClock(new Date(Date.now() + 25 * 3_600_000));
      await ask(made.enclosure, listener);
      const [here, there] = await Promise.all([ask(url, listener), askAt(() => second.port)(url, listener)]);
      expect(here.body.equals(there.body)).toBe(true);
      const bindings = await bindingsOf(made);
      expect(bindings).toHaveLength(2);
      const servings = bindings.map(({ ads }) => Object.values(ads).map(({ serving_id: id }) => id));
      const listed = (JSON.parse(here.body.toString()) as AssetList).ASSETS.map(({ URI }) =>
        servingOf(world.bench, 'ada', URI),
      );
      expect(servings[0]).toEqual(expect.arrayContaining(listed));
    } finally {
      await second[Symbol.asyncDispose]();
    }
  });

  test('is not decided for a listener who was erased in another process: what was bound stays, under nobody', async () => {
    const made = await show();
    const listener = newListener();
    const main = await enter(made, listener);
    const url = (await listsOf(main)).get('m1')!;
    const second = await startAnother('erased');
    try {
      // This process knows the play; the other one decides it, and the listener is erased there.
      const there = (await askAt(() => second.port)(url, listener)).body.toString();
      const { rows } = await world.bench.pool.query<{ listener_key: string }>(
        'select listener_key from hls_play where episode_id = $1',
        [made.episodeId],
      );
      const key = rows[0]!.listener_key;
      await eraseListeners(world.bench.pool, { erasureId: newId('era'), workspaceId }, [key]);
      expect((await ask(url, listener)).body.toString()).toBe(there);
      const left = await world.bench.pool.query(
        'select from binding where listener_key = $1 union all select from hls_play where listener_key = $1',
        [key],
      );
      expect([left.rowCount, (await bindingsOf(made)).length, world.bench.serving.requests.length]).toEqual([0, 1, 1]);
    } finally {
      await second[Symbol.asyncDispose]();
    }
  });
});

describe('an episode that is hidden', () => {
  test('goes on by HLS for who began within 24 hours, and for nobody later', async () => {
    const made = await show();
    const listener = newListener();
    const main = await enter(made, listener);
    await applySeen(world.bench, next(made.events.episode, {}, { state: 'unpublished', by: 3 }));
    const statuses = async (who: Record<string, string>) =>
      Promise.all([ask(main, who), ask(made.entry, who)]).then((all) => all.map(({ status }) => status));
    expect(await statuses(listener)).toEqual([200, 302]);
    expect((await ask(made.entry, newListener())).status).toBe(404);
    world.bench.setClock(new Date(Date.now() + 25 * 3_600_000));
    expect(await statuses(listener)).toEqual([404, 404]);
  });
});
