import { z } from 'zod';

/** What an alert of a line item can be about (docs/pacing.md#alerts). */
export const lineItemAlertKinds = ['behind_plan', 'stalled', 'ending', 'over', 'budget'] as const;

export const lineItemAlertStates = ['open', 'closed'] as const;

/** What webhooks and notices of alerts are called. No command causes them, and no version of the line item comes of it. */
export const lineItemAlertEvents = { raised: 'line_item.alert_raised', cleared: 'line_item.alert_cleared' } as const;

const units = z.number().min(0);

const figures = z.strictObject({
  goal: units,
  target: units.describe('What was to be committed by then.'),
  committed: units.describe('Confirmed servings and those that may still be confirmed.'),
  confirmed: units.describe('Servings that count towards the goal, and held ones.'),
  units: units.describe(
    'What the alert is about: units behind the plan, expected, missing at the end, above the goal, or committed of a budget. 0 once it has recovered.',
  ),
  short_by: z.enum(['plan', 'day', 'goal', 'budget']).optional().describe('Why no more was granted.'),
  budget_percent: units.optional().describe('Of the budget of its campaign, what that has committed.'),
});

/** An alert of a line item, as readers see it. */
export const lineItemAlertSchema = z.strictObject({
  alert_id: z.string(),
  line_item_id: z.string(),
  kind: z.enum(lineItemAlertKinds),
  state: z.enum(lineItemAlertStates),
  raised_at: z.iso.datetime(),
  raised: figures.describe('How the line item stood then.'),
  cleared_at: z.iso.datetime().optional().describe('Absent while it is open, like the next two.'),
  cleared: figures.optional(),
  cleared_by: z
    .enum(['recovered', 'ended'])
    .optional()
    .describe('`ended`: the line item has left its plan, or its window is over.'),
});

export type LineItemAlert = z.output<typeof lineItemAlertSchema>;
