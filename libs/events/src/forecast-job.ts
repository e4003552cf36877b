import { z } from 'zod';
import { servingPlanSchema } from './serving-plan.ts';

const window = z.strictObject({ start: z.iso.datetime(), end: z.iso.datetime() });

/** Inputs of the jobs that the forecaster claims, by kind: management writes them, the forecaster parses them. */
export const forecastJobInputs = {
  run_forecast: z.strictObject({
    kind: z.enum(['traffic', 'availability', 'delivery']),
    window,
    /** The line item that is asked about, as a serving plan has it; an unlimited goal asks how much there is. */
    line_item: servingPlanSchema.shape.line_items.element.optional(),
    /** Line items whose delivery is asked for; absent: all. */
    line_item_ids: z.array(z.string()).min(1).optional(),
  }),
  /** The plans of all line items of the job's workspace that have a goal: what they are made of is read when the job runs. */
  make_pacing_plans: z.strictObject({}),
} as const;

export type ForecastJobKind = keyof typeof forecastJobInputs;
export const forecastJobKinds = Object.keys(forecastJobInputs) as readonly ForecastJobKind[];

/** The input of a job as the forecaster reads it. */
export type ForecastJobInput<K extends ForecastJobKind = 'run_forecast'> = z.output<(typeof forecastJobInputs)[K]>;
