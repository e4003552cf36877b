import { z } from 'zod';

/** What an alert can be about (docs/pacing.md#alerts); `unfilled` is about a podcast, the others about a line item. */
export const lineItemAlertKinds = [
  ...(['behind_plan', 'at_risk', 'daily_min_unreachable', 'stalled', 'ending', 'over', 'budget'] as const),
  ...(['discrepancy', 'unfilled'] as const),
] as const;

export const lineItemAlertStates = ['open', 'closed'] as const;

/** What webhooks and notices of alerts are called. No command causes them, and no version of the line item comes of it. */
export const lineItemAlertEvents = { raised: 'line_item.alert_raised', cleared: 'line_item.alert_cleared' } as const;
/** The same of podcasts. */
export const podcastAlertEvents = { raised: 'podcast.alert_raised', cleared: 'podcast.alert_cleared' } as const;

const units = z.number().min(0);
const name = z.string().max(200);

/** What a kind says beside the figures; present in what was raised. */
const details = {
  forecast: z
    .strictObject({
      p10: units,
      p50: units.describe('What the line item will have at its end by the forecast, with what it has had.'),
      main_verdict: name.optional().describe('What speaks most often against it, where the middle is short.'),
      as_of: z.iso.datetime(),
    })
    .describe('Of `at_risk`.'),
  day: z
    .strictObject({
      day: z.iso
        .date()
        .describe('In the zone of the workspace; of the next seven whole days the one that misses most.'),
      daily_min: units,
      p50: units.describe('Slots that the day will be given by the forecast.'),
      p90: units.describe('At the upper end of it.'),
      days: z.int().min(1).describe('Days of these seven that miss their least.'),
      as_of: z.iso.datetime(),
    })
    .describe('Of `daily_min_unreachable`.'),
  discrepancy: z
    .strictObject({
      reconciliation_id: z.string(),
      source: name,
      days: z.int().min(1).describe('Days on which it is beyond the tolerance and undecided.'),
    })
    .describe('Of `discrepancy`: the source that differs most. Both numbers stand in the items of the reconciliation.'),
  reservation: z
    .strictObject({ expires_at: z.iso.datetime() })
    .describe('Of `ending`, where the line item holds slots that are not booked.'),
  unfilled: z
    .strictObject({
      opportunities: units.describe('Slots of the last seven days.'),
      percent: units.describe('Of these, those that stayed empty.'),
      usual_percent: units.describe('The same of the four weeks before.'),
      no_ad_reason: name.describe('Of most of them.'),
      value_at_floor_micros: units.optional().describe('What they are worth at the least floor of the podcast.'),
    })
    .describe('Of `unfilled`.'),
} as const;

const figures = z.strictObject({
  goal: units.optional().describe('Absent of a podcast, like the next three.'),
  target: units.optional().describe('What was to be committed by then.'),
  committed: units.optional().describe('Confirmed servings and those that may still be confirmed.'),
  confirmed: units.optional().describe('Servings that count towards the goal, and held ones.'),
  units: units.describe(
    'What the alert is about: units behind the plan, expected, missing at the end or on a day, above the goal, committed of a budget, reserved, or ours of the days in dispute; slots that stayed empty. 0 once it has recovered.',
  ),
  short_by: z.enum(['plan', 'day', 'goal', 'budget']).optional().describe('Why no more was granted.'),
  budget_percent: units.optional().describe('Of the budget of its campaign, what that has committed.'),
  forecast: details.forecast.optional(),
  day: details.day.optional(),
  discrepancy: details.discrepancy.optional(),
  reservation: details.reservation.optional(),
  unfilled: details.unfilled.optional(),
});

/** An alert of a line item or a podcast, as readers see it. */
export const lineItemAlertSchema = z.strictObject({
  alert_id: z.string(),
  line_item_id: z.string().optional().describe('Absent of a podcast.'),
  podcast_id: z.string().optional().describe('Absent of a line item.'),
  kind: z.enum(lineItemAlertKinds),
  state: z.enum(lineItemAlertStates),
  raised_at: z.iso.datetime(),
  raised: figures.describe('How it stood then.'),
  cleared_at: z.iso.datetime().optional().describe('Absent while it is open, like the next two.'),
  cleared: figures.optional(),
  cleared_by: z
    .enum(['recovered', 'ended'])
    .optional()
    .describe('`ended`: the line item has left its plan or its window is over; the podcast has no plays any more.'),
});

export type LineItemAlert = z.output<typeof lineItemAlertSchema>;
