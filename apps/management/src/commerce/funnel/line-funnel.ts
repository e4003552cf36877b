import { verdictCodes } from '@longwave/ad-decision';
import { productCatalog } from '@longwave/command-catalog';
import { z } from 'zod';
import { forecastSettings } from './setting-of.ts';

const lineItemTypes = productCatalog.resources.line_items.attributes.shape.type.options;

const count = z.int().min(0);

const change = z
  .enum(forecastSettings)
  .nullable()
  .describe(
    'A forecast of kind `availability` with this setting changed, in `prospective`, says what the change would bring; null: no forecast knows the setting.',
  );

const verdict = {
  code: z.enum(verdictCodes),
  considered: count.describe('Breaks in which the line item was looked at: exact.'),
  not_looked_at: count.describe(
    'Breaks in which it could have served and was not looked at, as nothing was left to place or it had no credit: estimated from one decision in 16.',
  ),
};
const verdictsAre =
  'What was decided about the line item, once for each break; in the order of the checks. Breaks that it does not fit are absent.';

const fit = z
  .strictObject({
    from: z.iso
      .datetime()
      .describe('The time that was asked: at least a day, as far as plays are sampled, which is by the hour.'),
    to: z.iso.datetime(),
    sampled_plays: count.describe('Plays that were asked. The other numbers are of all plays that these stand for.'),
    breaks: count.describe('Breaks of these plays.'),
    fits: count.describe('Breaks that it fits, whatever competes; with those of all stages they are `breaks`.'),
    stages: z
      .array(z.strictObject({ code: verdict.code, breaks: count, change }))
      .describe('Breaks that it does not fit, each by the first check that it fails; in the order of the checks.'),
    winners: z
      .array(
        z.strictObject({
          line_item_id: z.string(),
          name: z.string(),
          type: z.enum(lineItemTypes),
          slots: count.describe('Slots that it has of plays which the line item fits and got nothing of.'),
        }),
      )
      .max(5)
      .describe(
        'Who is in front: the line items with most of these slots that do not stand behind it by type or priority.',
      ),
    rare_values_hidden: z
      .boolean()
      .describe('It targets values that the sample hides for a good part of the plays: it may fit more than is said.'),
  })
  .nullable()
  .describe(
    'What the line item as it is now fits of the sampled plays of that time; null when it could serve nowhere, or nobody could say in time.',
  );

const numbers = {
  requests: count.describe('Plays of the workspace for which ads were asked.'),
  breaks: count.describe('Breaks of these plays.'),
  opportunities: count.describe('Slots of these breaks.'),
  verdicts: z.array(z.strictObject(verdict)).describe(verdictsAre),
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
  fit,
  total: z
    .strictObject({ ...numbers, verdicts: z.array(z.strictObject({ ...verdict, change })).describe(verdictsAre) })
    .describe('Of all hours.'),
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
