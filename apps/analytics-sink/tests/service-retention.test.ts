import { expect, test } from '@jest/globals';
import { until } from '@longwave/test-kit';
import { fact, seen } from '@longwave/test-kit/delivery-facts';
import { day, useSinkWorld } from './_sink-world.ts';

const started = useSinkWorld();

test('a fact is removed when it is 13 months old, and its download stays', async () => {
  const [published_at, started_at] = ['2019-12-01T00:00:00.000Z', '2020-01-01T10:00:00.000Z'];
  const old = fact({ fact_id: 'old', listener_key: 'old', published_at, started_at });
  const young = fact({ fact_id: 'young', listener_key: 'young', started_at: new Date().toISOString() });
  await started.world.publish([seen(), old, young]);
  const year = { fromMs: day('2020-01-01'), toMs: day('2021-01-01') };
  const downloads = async () => {
    const asked = { workspaceId: 'ws_1', podcastId: 'pod_1', range: year };
    return (await started.world.gateway.countByEpisode(asked, started.world.ownerOf('ws_1'))).episodes;
  };
  const counted = [{ episodeId: 'ep_1', downloads: 1n }];
  await until(async () => (await started.world.stored()) === 2 && (await downloads()).length === 1);
  await started.sink.stop();
  started.sink = await started.world.startSink({ FACT_MONTHS: '13' });
  await until(async () => (await started.world.stored()) === 1);
  expect(await downloads()).toEqual(counted);
});

test('the text of a user agent is removed 90 days after its last use, and not before', async () => {
  const [old, used] = [seen('Retired/1.0'), seen('InUse/1.0')];
  await started.world.publish([old, used]);
  const kept = async () =>
    (
      await started.world.pool.query<{ text: string }>(
        `select text from user_agent where text ~ '^(Retired|InUse)/' order by text`,
      )
    ).rows.map(({ text }) => text);
  await until(async () => (await kept()).length === 2);
  for (const [text, days] of [
    [old.user_agent, 91],
    [used.user_agent, 89],
  ])
    await started.world.pool.query(
      'update user_agent set last_used_at = now() - make_interval(days => $2) where text = $1',
      [text, days],
    );
  await started.sink.stop();
  started.sink = await started.world.startSink();
  await until(async () => (await kept()).join() === used.user_agent);
  // It is used again, so that it stays for another 90 days.
  await started.world.publish([{ ...used, fact_id: 'seen again' }]);
  await until(async () => {
    const { rows } = await started.world.pool.query<{ recent: boolean }>(
      `select last_used_at > now() - interval '1 day' as recent from user_agent where text = $1`,
      [used.user_agent],
    );
    return rows[0]!.recent;
  });
});
