import type { JsonRows } from '@longwave/audience-store';
import { hourOf } from '../counting/change-basis.ts';
import type { WrittenRow } from '../counting/counted-rows.ts';

/** The stages of the ledger of ads (docs/counting.md#the-ledger-of-ads); the hourly totals have a column of the name. */
export const adStages = ['decided', 'served', 'delivered', 'confirmed', 'billable'] as const;
export type AdStage = (typeof adStages)[number];

/** An entry of the ledger, without the columns that the basis adds. */
export type AdEntry = Readonly<
  Omit<JsonRows['ad_entry'], 'id' | 'recorded_at' | 'methodology_version' | 'lists_version' | 'restates'>
> & { readonly stage: AdStage };

/** The delivery or serving that an entry is about. */
export type AdPlace = Omit<AdEntry, 'stage' | 'quantity'>;

/** The place of an ad that was written in a session. */
export function placeOf(row: WrittenRow): AdPlace {
  return {
    serving_id: row.serving_id,
    listener_key: row.listener_key,
    window_on: row.window_on,
    workspace_id: row.workspace_id,
    podcast_id: row.podcast_id,
    episode_id: row.episode_id,
    campaign_id: row.campaign_id,
    line_item_id: row.line_item_id,
    creative_id: row.creative_id,
    break_key: row.break_key,
    slot: row.slot,
    hour: hourOf(row.started_at),
    country: row.country,
    region: row.region,
    app: row.app,
    device: row.device,
    platform: row.platform,
    operating_system: row.operating_system,
  };
}
