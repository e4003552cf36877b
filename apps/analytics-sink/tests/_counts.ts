import { recount, type VelocityLimits } from '@longwave/audience';
import type { DeliveryFact } from '@longwave/events';
import type { Pool } from '@longwave/postgres';
import { lists } from '@longwave/test-kit/delivery-facts';
import { reachedTexts } from './_reached-stages.ts';

type Row = Readonly<Record<string, unknown>>;

const hourOf = (atMs: number) => new Date(Math.floor(atMs / 3_600_000) * 3_600_000);

/** The stored counts, in one order. */
export async function stored(pool: Pool) {
  const read = async (sql: string) => (await pool.query<Row>(sql)).rows;
  return {
    downloads: await read(
      `select listener_key, episode_id, window_on::text, started_at, arrangement_id, credited_ms::int, content_ms::int,
         duplicate_arrangements, held from session where qualified order by 1, 2, 3`,
    ),
    rolling: await read(
      `select listener_key, episode_id, started_at, last_touch, counted from rolling_download order by 1, 2, 3`,
    ),
    ads: await read(
      `select listener_key, episode_id, window_on::text, serving_id, counted from ad_delivered order by 1, 2, 3, 4`,
    ),
    billed: await read(
      `select serving_id, listener_key, episode_id, window_on::text, hour from ad_entry where stage = 'billable'
       group by 1, 2, 3, 4, 5 having sum(quantity) <> 0 order by 1, 2, 3`,
    ),
    reached: (
      await read(
        `select stage || ' ' || serving_id || ' ' || to_char(hour at time zone 'UTC', 'DD HH24') as text from ad_entry
         where stage in ('served', 'confirmed') group by stage, serving_id, hour having sum(quantity) <> 0`,
      )
    )
      .map((row) => row['text'] as string)
      .sort(),
    hours: await read(
      `select episode_id, hour, downloads::int, first_touch_24h::int, last_touch_24h::int from download_hour
       where (downloads, first_touch_24h, last_touch_24h) <> (0, 0, 0) order by 1, 2`,
    ),
  };
}
export type CountedRows = Awaited<ReturnType<typeof stored>>;

/** The same counts by the reference method, from the facts alone. */
export function recounted(
  facts: readonly DeliveryFact[],
  decided?: { readonly limits: VelocityLimits; readonly released: ReadonlySet<string> },
): CountedRows {
  const { sessions, rollingDownloads } = recount(facts, lists.userAgents, decided);
  const qualified = sessions.filter(({ session }) => session.download !== undefined);
  const place = ({ episodeId, session }: (typeof qualified)[number]) => ({
    listener_key: session.first.listenerKey,
    episode_id: episodeId,
    window_on: session.windowOn,
  });
  const ads = qualified.flatMap((one) =>
    one.session.download!.ads.map((ad) => ({ ad, atMs: one.session.first.startedAtMs, one, place: place(one) })),
  );
  const served = sessions.flatMap(({ session }) =>
    session.served.map(({ servingId }) => ({ servingId, atMs: session.first.startedAtMs })),
  );
  const inOrder = <R extends Row>(rows: R[], ...columns: (keyof R)[]) => {
    const text = (row: R) =>
      columns
        .map((column) => String(row[column] instanceof Date ? (row[column] as Date).toISOString() : row[column]))
        .join(' ');
    return rows.sort((a, b) => (text(a) < text(b) ? -1 : 1));
  };
  const rolling = rollingDownloads.filter(({ rollingDownload }) => rollingDownload.firstTouch);
  const hours = new Map<
    string,
    { episode_id: string; hour: Date; downloads: number; first_touch_24h: number; last_touch_24h: number }
  >();
  const hour = (episode_id: string, atMs: number) => {
    const key = `${episode_id} ${hourOf(atMs).toISOString()}`;
    const row = hours.get(key) ?? {
      episode_id,
      hour: hourOf(atMs),
      downloads: 0,
      first_touch_24h: 0,
      last_touch_24h: 0,
    };
    hours.set(key, row);
    return row;
  };
  for (const { episodeId, session, held } of qualified)
    if (held === undefined) hour(episodeId, session.first.startedAtMs).downloads += 1;
  for (const { episodeId, rollingDownload, held } of rolling) {
    if (held !== undefined) continue;
    const row = hour(episodeId, rollingDownload.first.startedAtMs);
    row.first_touch_24h += 1;
    row.last_touch_24h += rollingDownload.lastTouch ? 1 : 0;
  }
  const billable = ads.filter(({ ad, one }) => ad.billable && one.held === undefined);
  const billed = [...Map.groupBy(billable, ({ ad }) => ad.servingId)].map(([serving_id, own]) => {
    const [first] = own.sort(
      (a, b) =>
        a.atMs - b.atMs ||
        (`${a.place.listener_key} ${a.place.episode_id}` < `${b.place.listener_key} ${b.place.episode_id}` ? -1 : 1),
    );
    return { serving_id, ...first!.place, hour: hourOf(first!.atMs) };
  });
  return {
    downloads: inOrder(
      qualified.map((one) => ({
        ...place(one),
        started_at: new Date(one.session.first.startedAtMs),
        arrangement_id: one.session.download!.arrangementId,
        credited_ms: one.session.download!.creditedMs,
        content_ms: one.session.download!.contentMs,
        duplicate_arrangements: one.session.download!.duplicateArrangements.length,
        held: one.held ?? null,
      })),
      'listener_key',
      'episode_id',
      'window_on',
    ),
    rolling: inOrder(
      rolling.map(({ episodeId, rollingDownload, held }) => ({
        listener_key: rollingDownload.first.listenerKey,
        episode_id: episodeId,
        started_at: new Date(rollingDownload.first.startedAtMs),
        last_touch: rollingDownload.lastTouch,
        counted: held === undefined,
      })),
      'listener_key',
      'episode_id',
      'started_at',
    ),
    ads: inOrder(
      ads.map((ad) => ({ ...ad.place, serving_id: ad.ad.servingId, counted: ad.one.held === undefined })),
      'listener_key',
      'episode_id',
      'window_on',
      'serving_id',
    ),
    billed: inOrder(billed, 'serving_id'),
    reached: [
      ...reachedTexts('served', served),
      ...reachedTexts(
        'confirmed',
        ads.flatMap(({ ad, atMs, one }) => (one.held === undefined ? [{ servingId: ad.servingId, atMs }] : [])),
      ),
    ].sort(),
    hours: inOrder([...hours.values()], 'episode_id', 'hour'),
  };
}

/** Totals that queries read, and the same summed up from the ledgers; equal rows in one order. */
export async function totalsAndLedgers(pool: Pool) {
  const read = async (sql: string) => (await pool.query<Row>(sql)).rows;
  const place = 'workspace_id, podcast_id, episode_id, hour';
  const dimensions = 'country, region, app, device, platform, operating_system';
  const windows = 'downloads, first_touch_24h, last_touch_24h';
  const sums =
    'sum(downloads)::int as downloads, sum(first_touch_24h)::int as first_touch_24h, sum(last_touch_24h)::int as last_touch_24h';
  const adPlace = `workspace_id, podcast_id, campaign_id, line_item_id, creative_id, hour, ${dimensions}`;
  const stage = (name: string) => `coalesce(sum(quantity) filter (where stage = '${name}'), 0)::int as ${name}`;
  const totals = [
    await read(`select ${place}, ${sums} from download_hour group by ${place} order by ${place}`),
    await read(
      `select ${place}, ${dimensions}, ${sums} from download_audience_hour group by ${place}, ${dimensions} order by ${place}, ${dimensions}`,
    ),
    await read(`select ${adPlace}, decided::int, delivered::int, billable::int from ad_hour order by ${adPlace}`),
  ];
  const ledgers = [
    await read(`select ${place}, ${sums} from download_change group by ${place} order by ${place}`),
    await read(
      `select ${place}, ${dimensions}, ${sums} from download_change group by ${place}, ${dimensions} order by ${place}, ${dimensions}`,
    ),
    await read(
      `select ${adPlace}, ${stage('decided')}, ${stage('delivered')}, ${stage('billable')} from ad_entry group by ${adPlace} order by ${adPlace}`,
    ),
  ];
  const negative = await read(`select ${place} from download_hour where least(${windows}) < 0 union all
    select ${place} from download_audience_hour where least(${windows}) < 0`);
  return { totals, ledgers, negative };
}
