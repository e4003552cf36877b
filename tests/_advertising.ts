import type { ResourceView } from '@longwave/events';
import { commandsIn, uploadFile } from '@longwave/test-kit/clients';
import { until } from '@longwave/test-kit';
import type { Installation, Podcaster } from './_fleet.ts';

const hourMs = 3600_000;
const openWindow = () => ({
  start: new Date(Date.now() - hourMs).toISOString(),
  end: new Date(Date.now() + 30 * 24 * hourMs).toISOString(),
});

/** The fields of a line item that a test sets; others have defaults. */
export interface Wanted {
  readonly name: string;
  readonly type: 'sponsorship' | 'guaranteed' | 'house';
  readonly goal: { readonly unit: 'impressions' | 'share_pct' | 'unlimited'; readonly quantity?: number };
  readonly positions: readonly ('pre' | 'mid' | 'post')[];
  readonly ad: string;
  readonly clickUrl?: string;
  /** ISO 3166-1; everywhere without. */
  readonly countries?: readonly string[];
  readonly caps?: readonly { readonly max: number; readonly per: string; readonly window_seconds: number }[];
}

export interface Booked {
  readonly lineItemId: string;
  readonly creativeId: string;
  readonly durationMs: number;
}

/** Sends commands of one workspace as its operator. */
export function advertisingOf(
  { operator }: Installation,
  { account, rest }: Pick<Podcaster, 'rest'> & { readonly account: Pick<Podcaster['account'], 'workspaceId'> },
) {
  const { workspaceId } = account;
  const send = commandsIn(operator, workspaceId);

  async function prepare(advertiser: ResourceView, { name, ad, clickUrl }: Wanted): Promise<ResourceView> {
    const creative = await send('creative.create', 'creatives', {
      advertiser_id: advertiser.id,
      name,
      format: 'audio',
      production: 'produced',
      universal_ad_id: 'unknown',
      ...(clickUrl !== undefined && { click_url: clickUrl }),
    });
    const { fileUrl } = await uploadFile(rest, ad);
    await send('creative.attach_media', creative, { upload_ref: /upl_[0-9a-z]{26}/.exec(fileUrl)![0] });
    const prepared = await until(
      'preparing the ad',
      async () => {
        const now = await operator.read(workspaceId, 'creatives', creative.id);
        return (now.attributes['media'] as unknown[]).length > 0 ? now : undefined;
      },
      { timeoutMs: 120_000 },
    );
    return send('creative.submit', prepared, {
      disclosure: 'Advertisement',
      ...(clickUrl !== undefined && { click_url: clickUrl }),
    });
  }

  return {
    send,
    /** A campaign of an advertiser of its own, one line item and one creative, approved and booked. */
    async book(wanted: Wanted): Promise<Booked> {
      const advertiser = await send('advertiser.create', 'advertisers', {
        legal_name: wanted.name,
        brands: [],
        ad_product_categories: [],
      });
      let campaign = await send('campaign.create', 'campaigns', {
        advertiser_id: advertiser.id,
        name: wanted.name,
        window: openWindow(),
      });
      campaign = await send('campaign.activate', await send('campaign.submit', campaign));
      const creative = await prepare(advertiser, wanted);
      const lineItem = await send('line_item.create', 'line_items', {
        campaign_id: campaign.id,
        name: wanted.name,
        type: wanted.type,
        window: openWindow(),
        goal: wanted.goal,
        // Every play has it, not a few a day.
        pacing: { mode: 'asap' },
        rate:
          wanted.type === 'house'
            ? { model: 'none' }
            : { model: 'cpm', price: { amount_micros: '18000000', currency: 'EUR' } },
        break_positions: wanted.positions,
        ...(wanted.countries && { targeting: { countries: { include: wanted.countries, exclude: [] } } }),
        ...(wanted.caps && { frequency_caps: wanted.caps }),
      });
      const assignment = await send('creative_assignment.create', 'creative_assignments', {
        line_item_id: lineItem.id,
        creative_id: creative.id,
      });
      await send('creative_assignment.activate', assignment);
      await send('line_item.book', await send('line_item.submit', lineItem));
      return {
        lineItemId: lineItem.id,
        creativeId: creative.id,
        durationMs: Number(creative.attributes['duration_ms']),
      };
    },
  };
}
