import type { MessageKey } from '../messages/messages.ts';
import { fieldsOf, instantIn } from '../parts/form/zone-time.ts';
import type { Draft } from './form-value.ts';

/** What of a type's forms and pages the catalog does not say. */
export interface Hints {
  /** Steps of a form that has many fields: what is asked, and by which fields. */
  readonly steps?: readonly { readonly title: MessageKey; readonly fields: readonly string[] }[];
  /** Fields that stand behind "More settings". */
  readonly more?: readonly string[];
  /** What a new one begins with, where one choice is by far the most frequent. */
  readonly start?: Draft;
  /** Types that name this one in an attribute of that name, listed on its page. */
  readonly below?: readonly string[];
}

const days = (count: number) =>
  new Date(Math.ceil(Date.now() / 3_600_000) * 3_600_000 + count * 86_400_000).toISOString();

/** The calendar month before this one in a zone; clocks that jump at midnight move its end to noon. */
export function lastMonth(zone: string, now = new Date()): { readonly start: string; readonly end: string } {
  const { day } = fieldsOf(now.toISOString(), zone);
  const [year = 0, month = 0] = day.split('-').map(Number);
  const first = (monthsBack: number) => {
    const date = new Date(Date.UTC(year, month - 1 - monthsBack, 1)).toISOString().slice(0, 10);
    const found = instantIn(date, '00:00', zone);
    return found.kind === 'one' ? found.at : `${date}T12:00:00Z`;
  };
  return { start: first(1), end: first(0) };
}

/** The hints of a type. @param zone of the workspace */
export const hintsOf = (type: string, zone = 'UTC'): Hints => known[type]?.(zone) ?? {};

const known: Readonly<Record<string, (zone: string) => Hints>> = {
  advertisers: () => ({ more: ['separation_groups', 'billing_ref'], below: ['campaigns', 'creatives'] }),
  campaigns: () => ({
    more: ['io_number', 'objective', 'separation_group', 'contacts'],
    start: { window: { start: days(0), end: days(30) } },
    below: ['line_items'],
  }),
  line_items: () => ({
    steps: [
      { title: 'ads.step_what', fields: ['campaign_id', 'name', 'type'] },
      { title: 'ads.step_when', fields: ['window', 'effective_at'] },
      { title: 'ads.step_where', fields: ['break_positions', 'targeting'] },
      { title: 'ads.step_how_much', fields: ['goal', 'rate'] },
    ],
    more: [
      ...['priority', 'pacing', 'frequency_caps', 'creative_rotation', 'counting_basis', 'weight'],
      ...['auto_extend', 'product_id', 'makegood_of', 'external_ids', 'allow_overbook', 'allow_below_floor'],
    ],
    start: {
      type: 'guaranteed',
      window: { start: days(0), end: days(30) },
      goal: { unit: 'impressions' },
      rate: { model: 'cpm' },
      break_positions: ['pre'],
    },
    below: ['creative_assignments'],
  }),
  creatives: () => ({
    more: ['click_url', 'categories', 'host_podcast_id', 'valid_window', 'external_ids'],
    start: { format: 'audio', production: 'produced', universal_ad_id: 'unknown', disclosure: 'Advertisement' },
    below: ['creative_assignments'],
  }),
  creative_assignments: () => ({ more: ['weight', 'sequence_no', 'window', 'position_limits'] }),
  inventory_units: () => ({
    more: ['parent_id', 'content_categories', 'language', 'explicit', 'min_cpm', 'min_cpm_by_position'],
    start: { kind: 'show' },
    below: ['inventory_units'],
  }),
  break_plans: () => ({
    more: ['ad_load_limit_ms', 'min_gap_ms', 'surfaces'],
    start: {
      breaks: [
        {
          key: 'pre',
          position: 'pre',
          anchor: { kind: 'time', position_ms: 0 },
          max_slots: 2,
          max_duration_ms: 60_000,
        },
      ],
    },
  }),
  serving_plans: () => ({ start: { effective_from: days(-1) } }),
  serving_halts: () => ({ start: { scope: { kind: 'creative' } } }),
  reconciliations: (zone) => ({
    more: ['tolerance_pct', 'smallest_difference', 'time_zone', 'provisional'],
    start: {
      period: lastMonth(zone),
      sources: [
        {
          ...{ kind: 'third_party', name: 'buyer', counting_basis: 'ad_delivered', time_zone: zone },
          columns: { line_item: 'Line item ID', day: 'Date', units: 'Impressions' },
        },
      ],
    },
  }),
  billing_statements: (zone) => ({
    more: ['corrects', 'tax_note', 'waive_reconciliation'],
    start: { period: lastMonth(zone) },
  }),
  report_definitions: () => ({
    more: ['filters', 'counting_basis', 'time_zone'],
    start: { dimensions: ['day'], metrics: ['ads_delivered'], counting_basis: 'calendar_utc' },
    below: ['report_runs'],
  }),
};
