import { z } from 'zod';
import type { ManagementApi } from './management-api.ts';
import { readPages } from './pages.ts';
import { columns } from './table.ts';
import { queryOf, readWords } from './words.ts';
import { workspaceOf } from './workspace.ts';

const figuresSchema = z.looseObject({
  goal: z.number().optional(),
  units: z.number(),
  short_by: z.string().optional(),
  budget_percent: z.number().optional(),
  forecast: z.looseObject({ p50: z.number() }).optional(),
  day: z.looseObject({ day: z.string(), daily_min: z.number(), p50: z.number() }).optional(),
  discrepancy: z.looseObject({ reconciliation_id: z.string(), source: z.string(), days: z.number() }).optional(),
  reservation: z.looseObject({ expires_at: z.string() }).optional(),
  unfilled: z.looseObject({ percent: z.number(), no_ad_reason: z.string() }).optional(),
});

const alertSchema = z.looseObject({
  line_item_id: z.string().optional(),
  podcast_id: z.string().optional(),
  kind: z.string(),
  state: z.string(),
  raised_at: z.string(),
  raised: figuresSchema,
});

/** The words of an alert: they say how its subject stood when it was raised. */
function aboutText(figures: z.infer<typeof figuresSchema>): string {
  const { goal, units, short_by: short, budget_percent: budget, forecast, day, discrepancy, reservation } = figures;
  return [
    // The units of a discrepancy are ours of its days, not the difference.
    ...(discrepancy === undefined ? [`${units} units`] : []),
    ...(goal === undefined ? [] : [`goal ${goal}`]),
    ...(short === undefined ? [] : [`short by ${short}`]),
    ...(budget === undefined ? [] : [`${budget} % of the budget`]),
    ...(forecast ? [`forecast ${forecast.p50}`] : []),
    ...(day ? [`${day.day}: ${day.p50} of at least ${day.daily_min}`] : []),
    ...(discrepancy
      ? [`source ${discrepancy.source} on ${discrepancy.days} days: manage items ${discrepancy.reconciliation_id}`]
      : []),
    ...(reservation ? [`reserved until ${reservation.expires_at}`] : []),
    ...(figures.unfilled ? [`${figures.unfilled.percent} % empty, mostly ${figures.unfilled.no_ad_reason}`] : []),
  ].join(', ');
}

const text = { type: 'string' } as const;

/** `manage alerts`: what is wrong with line items and podcasts, those that were raised last first. */
export async function showAlerts(api: ManagementApi, args: readonly string[]) {
  const { values } = readWords(args, [], {
    ...{ line_item_id: text, podcast_id: text, state: text, kind: text, limit: text },
    all: { type: 'boolean' },
  });
  const { line_item_id: lineItemId, podcast_id: podcastId, state, kind, limit } = values;
  const { rows, hasMore } = await readPages(api, {
    path: `/workspaces/${await workspaceOf(api, values.workspace)}/alerts`,
    query: queryOf({ line_item_id: lineItemId, podcast_id: podcastId, state, kind, limit }),
    ...{ row: alertSchema, all: values.all },
  });
  if (values.json) return JSON.stringify(rows, null, 2);
  if (rows.length === 0) return 'There are none.';
  const table = columns(
    rows.map((alert) => [
      ...[alert.kind, alert.state, alert.raised_at, alert.line_item_id ?? alert.podcast_id ?? ''],
      aboutText(alert.raised),
    ]),
  );
  return hasMore ? `${table}\n… and more: --all` : table;
}
