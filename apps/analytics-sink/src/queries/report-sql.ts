import {
  reportFacts,
  reportMetrics,
  type ReportDimension,
  type ReportFacts,
  type ReportMetric,
} from '@longwave/events';
import { adStages, type AdStage } from '../ads/ad-entry.ts';
import { dimensionKeys, windowColumns, windowRows } from './count-queries.ts';
import type { ReportRequest } from './report-request.ts';

/** A statement with its parameters. */
interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

type Parameter = (value: unknown) => string;

/** The kind of delivery event that a metric counts. */
const playerEvents = {
  ad_starts: 'start',
  ad_first_quartiles: 'first_quartile',
  ad_midpoints: 'midpoint',
  ad_third_quartiles: 'third_quartile',
  ad_completes: 'complete',
  ad_clicks: 'click',
} as const satisfies Partial<Record<ReportMetric, string>>;

/** The metric of each stage of the ledger. */
const adMetrics = (sumOf: (stage: AdStage) => string): Readonly<Partial<Record<ReportMetric, string>>> =>
  Object.fromEntries(adStages.map((stage) => [`ads_${stage}`, sumOf(stage)]));

/** Every dimension as text over the rows of a source; `at` is the column with the time. */
const keysOf = (at: string, timeZone: string): Readonly<Record<ReportDimension, string>> => ({
  hour: `to_char(${at} at time zone 'UTC', 'YYYY-MM-DD"T"HH24":00:00Z"')`,
  day: `to_char(${at} at time zone ${timeZone}, 'YYYY-MM-DD')`,
  week: `to_char(date_trunc('week', ${at} at time zone ${timeZone}), 'YYYY-MM-DD')`,
  month: `to_char(${at} at time zone ${timeZone}, 'YYYY-MM')`,
  podcast: 'podcast_id',
  episode: 'episode_id',
  advertiser: `coalesce(advertiser_id, 'unknown')`,
  campaign: 'campaign_id',
  line_item: 'line_item_id',
  type: `coalesce(line_item_type, 'unknown')`,
  creative: 'creative_id',
  break: 'break_key',
  position: `coalesce(position, 'unknown')`,
  slot: 'slot::text',
  no_ad_reason: 'no_ad_reason',
  country: dimensionKeys.country,
  region: dimensionKeys.region,
  app: dimensionKeys.app,
  device: dimensionKeys.device,
  platform: dimensionKeys.platform,
  operating_system: dimensionKeys.operatingSystem,
});

/** The ledger with the position of each serving's break, as far as its decision said it. */
const placedEntries = `(select e.*, s.position from ad_entry e left join ad_serving s on s.serving_id = e.serving_id) as placed`;

/** Slots by position: those whose position was not counted are a row of their own, so that the rows always sum to the total. */
const placedSlots = `(select o.workspace_id, o.hour, o.podcast_id, o.episode_id, o.country, o.break_key, o.no_ad_reason, p.position,
    p.slots as opportunities
  from opportunity_hour o cross join lateral (
    select key as position, value::bigint as slots from jsonb_each_text(o.positions)
    union all
    select null, o.opportunities - coalesce((select sum(value::bigint) from jsonb_each_text(o.positions)), 0)) p) as placed`;

/** The rows that facts are summed from, and each metric over them. Totals are read where they know all the dimensions. */
function sourceOf(facts: ReportFacts, { window }: ReportRequest, named: ReadonlySet<ReportDimension>) {
  const isNamed = (...dimensions: ReportDimension[]) => dimensions.some((dimension) => named.has(dimension));
  const isOfAudience = isNamed('country', 'region', 'app', 'device', 'platform', 'operating_system');
  const slots = isNamed('position') ? placedSlots : 'opportunity_hour';
  const events = (metric: keyof typeof playerEvents) => `sum(events) filter (where event = '${playerEvents[metric]}')`;
  switch (facts) {
    case 'downloads':
      return {
        rows: isOfAudience ? 'download_audience_hour' : 'download_hour',
        at: 'hour',
        values: { downloads: `sum(${windowColumns[window]})` },
      };
    case 'listeners':
      return { rows: windowRows[window], at: 'started_at', values: { listeners: 'count(distinct listener_key)' } };
    case 'ads':
      return isNamed('episode', 'break', 'position', 'slot')
        ? {
            rows: isNamed('position') ? placedEntries : 'ad_entry',
            at: 'hour',
            values: adMetrics((stage) => `sum(quantity) filter (where stage = '${stage}')`),
          }
        : {
            rows: 'ad_hour',
            at: 'hour',
            values: adMetrics((stage) => `sum(${stage})`),
          };
    case 'requests':
      return { rows: 'opportunity_hour', at: 'hour', values: { ad_requests: 'sum(requests)' } };
    case 'opportunities':
      return { rows: slots, at: 'hour', values: { ad_opportunities: 'sum(opportunities)' } };
    case 'unfilled':
      return {
        rows: slots,
        at: 'hour',
        values: { ads_unfilled: `sum(opportunities) filter (where no_ad_reason <> '')` },
      };
    case 'player_reports':
      return {
        rows: 'client_event_hour',
        at: 'hour',
        values: Object.fromEntries(
          Object.keys(playerEvents).map((metric) => [metric, events(metric as keyof typeof playerEvents)]),
        ),
      };
  }
}

/** Joins that give the rows the facts of campaigns and line items that management knows. */
function joinsOf(
  { advertisers, lineItemTypes }: ReportRequest,
  named: ReadonlySet<ReportDimension>,
  parameter: Parameter,
) {
  const pairs = (left: readonly string[], right: readonly string[]) =>
    ` left join unnest(${parameter(left)}::text[], ${parameter(right)}::text[]) as`;
  const ofCampaigns = () =>
    `${pairs(
      advertisers.map((one) => one.campaignId),
      advertisers.map((one) => one.advertiserId),
    )} advertised (of_campaign_id, advertiser_id) on of_campaign_id = campaign_id`;
  const ofLineItems = () =>
    `${pairs(
      lineItemTypes.map((one) => one.lineItemId),
      lineItemTypes.map((one) => one.type),
    )} typed (of_line_item_id, line_item_type) on of_line_item_id = line_item_id`;
  return (named.has('advertiser') ? ofCampaigns() : '') + (named.has('type') ? ofLineItems() : '');
}

/** The sums of one kind of facts by the dimensions of the report; metrics of other facts are 0. */
function sumsOf(facts: ReportFacts, request: ReportRequest, parameter: Parameter): string {
  const { workspaceId, range, dimensions, metrics, filters, timeZone } = request;
  const named = new Set([...dimensions, ...filters.map(({ dimension }) => dimension)]);
  const { rows, at, values } = sourceOf(facts, request, named);
  const hasZone = dimensions.some((dimension) => ['day', 'week', 'month'].includes(dimension));
  const keys = keysOf(at, hasZone ? parameter(timeZone) : '');
  const numbers: Readonly<Partial<Record<ReportMetric, string>>> = values;
  const columns = [
    ...dimensions.map((dimension, index) => `${keys[dimension]} as key_${index}`),
    ...metrics.map((metric, index) => `coalesce(${numbers[metric] ?? '0'}, 0) as value_${index}`),
  ];
  const joined = joinsOf(request, named, parameter);
  const conditions = [
    `workspace_id = ${parameter(workspaceId)}`,
    `${at} >= ${parameter(range.from)}`,
    `${at} < ${parameter(range.to)}`,
    ...filters.map(({ dimension, keys: wanted }) => `${keys[dimension]} = any(${parameter(wanted)}::text[])`),
  ];
  const groups = dimensions.map((_, index) => String(index + 1)).join(', ');
  return `select ${columns.join(', ')} from ${rows}${joined} where ${conditions.join(' and ')}${groups && ` group by ${groups}`}`;
}

/** Facts that the metrics of a report are counted from. */
export const factsOf = (metrics: readonly ReportMetric[]): ReportFacts[] =>
  (Object.keys(reportFacts) as ReportFacts[]).filter((facts) =>
    metrics.some((metric) => reportMetrics[metric] === facts),
  );

/**
 * The one query of a report: columns `key_0` …, `value_0` …, in the order of the keys by their bytes. Each kind of facts is grouped by
 * itself, then the groups of equal keys are joined; groups without any number are left out.
 */
export function reportStatement(request: ReportRequest): Statement {
  const values: unknown[] = [];
  const parameter: Parameter = (value) => `$${values.push(value)}`;
  const parts = factsOf(request.metrics).map((facts) => sumsOf(facts, request, parameter));
  const keys = request.dimensions.map((_, index) => `key_${index} collate "C"`);
  const sums = request.metrics.map((_, index) => `sum(value_${index})`);
  const text = `select ${[
    ...request.dimensions.map((_, index) => `key_${index} collate "C" as key_${index}`),
    ...sums.map((sum, index) => `${sum}::bigint as value_${index}`),
  ].join(', ')} from (${parts.join(' union all ')}) as counted${keys.length > 0 ? ` group by ${keys.join(', ')}` : ''}
    having ${sums.map((sum) => `${sum} <> 0`).join(' or ')}${keys.length > 0 ? ` order by ${keys.join(', ')}` : ''}`;
  return { text, values };
}
