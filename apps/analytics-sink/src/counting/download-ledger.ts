import type { Transaction } from '@longwave/postgres';
import { asLedgerRow, hourOf, type ChangeBasis } from './change-basis.ts';
import { ledgerDelta, type Counts, type Dimensions, type RollingRow, type SessionRow } from './counted-rows.ts';

const ledgerColumns = `methodology_version, lists_version, restates, workspace_id, podcast_id, episode_id, hour, country, region, app,
  device, platform, operating_system, downloads, first_touch_24h, last_touch_24h`;

/** The hourly numbers that a row of `session` or `rolling_download` adds to. */
function entryOf(row: SessionRow | RollingRow) {
  const { workspace_id, podcast_id, episode_id, country, region, app, device, platform, operating_system } = row;
  const place = { workspace_id, podcast_id, episode_id, hour: hourOf(row.started_at) };
  const dimensions: Dimensions = { country, region, app, device, platform, operating_system };
  const isRolling = 'last_touch' in row;
  const numbers = {
    downloads: row.counted && !isRolling ? 1 : 0,
    first_touch_24h: row.counted && isRolling ? 1 : 0,
    last_touch_24h: row.counted && isRolling && row.last_touch ? 1 : 0,
  };
  return [{ ...place, ...dimensions }, numbers] as const;
}

/** Appends the changes of the hourly numbers of all windows and updates their totals, rows in key order. */
export async function appendDownloadChanges(
  tx: Transaction,
  before: Counts,
  after: Counts,
  basis: ChangeBasis,
): Promise<void> {
  const changes = ledgerDelta([...before.sessions, ...before.rolling], [...after.sessions, ...after.rolling], entryOf);
  if (changes.length === 0) return;
  await tx.query(
    `with change as (
       insert into download_change (${ledgerColumns})
       select ${ledgerColumns} from json_populate_recordset(null::download_change, $1) returning *),
     audience as (
       insert into download_audience_hour as d (workspace_id, podcast_id, episode_id, hour, country, region, app, device, platform,
         operating_system, downloads, first_touch_24h, last_touch_24h)
       select workspace_id, podcast_id, episode_id, hour, country, region, app, device, platform, operating_system, downloads,
         first_touch_24h, last_touch_24h from change
       order by workspace_id, podcast_id, episode_id, hour, country, region, app, device, platform, operating_system
       on conflict (workspace_id, podcast_id, episode_id, hour, country, region, app, device, platform, operating_system) do update set
         downloads = d.downloads + excluded.downloads, first_touch_24h = d.first_touch_24h + excluded.first_touch_24h,
         last_touch_24h = d.last_touch_24h + excluded.last_touch_24h)
     insert into download_hour as d (workspace_id, podcast_id, episode_id, hour, downloads, first_touch_24h, last_touch_24h)
     select workspace_id, podcast_id, episode_id, hour, sum(downloads), sum(first_touch_24h), sum(last_touch_24h) from change
     group by 1, 2, 3, 4 order by 1, 2, 3, 4
     on conflict (workspace_id, podcast_id, episode_id, hour) do update set
       downloads = d.downloads + excluded.downloads, first_touch_24h = d.first_touch_24h + excluded.first_touch_24h,
       last_touch_24h = d.last_touch_24h + excluded.last_touch_24h`,
    [JSON.stringify(changes.map((change) => asLedgerRow(change, basis)))],
  );
}
