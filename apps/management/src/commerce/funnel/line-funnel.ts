import { verdictCodes } from '@longwave/ad-decision';
import { z } from 'zod';

const count = z.int().min(0);

const numbers = {
  requests: count.describe('Plays of the workspace for which ads were asked.'),
  breaks: count.describe('Breaks of these plays.'),
  opportunities: count.describe('Slots of these breaks.'),
  verdicts: z
    .array(
      z.strictObject({
        code: z.enum(verdictCodes),
        considered: count.describe('Breaks in which the line item was looked at: exact.'),
        not_looked_at: count.describe(
          'Breaks in which it could have served and was not looked at, as nothing was left to place or it had no credit: estimated from one decision in 16.',
        ),
      }),
    )
    .describe(
      'What was decided about the line item, once for each break; in the order of the checks. Breaks that it does not fit are absent.',
    ),
  decided: count.describe('Slots that it was given, in the hour of the decision.'),
  served: count.describe('Servings of which all bytes were written, in the hour of the download.'),
  delivered: count.describe('The same within downloads, once for each download.'),
  confirmed: count.describe('Servings that were delivered at least once.'),
};

/** Why a line item was given no more slots, by the hour. */
export const lineFunnelSchema = z.strictObject({
  line_item_id: z.string(),
  from: z.iso.datetime(),
  to: z.iso.datetime(),
  opportunities_until: z.iso
    .datetime()
    .nullable()
    .describe('Requests, breaks and opportunities are counted up to here; null before the first hour.'),
  data_watermark: z.iso.datetime().describe('Facts up to this time are counted in served, delivered and confirmed.'),
  pacing: z
    .strictObject({
      goal: count,
      counting_basis: z.string(),
      state: z.string().describe('learning, on_plan, behind, committed or ended.'),
      used: count.describe('Slots given so far.'),
      committed: z.number().describe('Of the goal: confirmed, or possibly still.'),
      target: z.number().describe('To be committed by now.'),
      delivery_rate: z.number(),
      urgency: z.int().min(0).max(3),
      updated_at: z.iso.datetime(),
    })
    .nullable()
    .describe('Where it stands now; null for line items that are not paced.'),
  total: z.strictObject(numbers).describe('Of all hours.'),
  hours: z
    .array(
      z.strictObject({
        hour: z.iso.datetime(),
        pacing: z
          .strictObject({
            target: z.number(),
            committed: z.number(),
            granted: count,
            used: count,
            short_by: z
              .enum(['plan', 'day', 'goal', 'budget'])
              .nullable()
              .describe(
                'What `no_lease` means in this hour: the plan keeps slots for later, the day has its most, the goal is committed, or the budget is; null: nothing held it back.',
              ),
          })
          .nullable(),
        ...numbers,
      }),
    )
    .describe('The oldest first; hours without any number are absent.'),
});

export type LineFunnel = z.output<typeof lineFunnelSchema>;
