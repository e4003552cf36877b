import { commerceRoles } from '@longwave/principal';
import { z } from 'zod';
import { lineItemSettings } from '../advertising/line-item.ts';
import { adPosition } from '../advertising/placement.ts';
import { storedTargeting, targeting } from '../advertising/targeting.ts';
import { defineCommand, defineResource } from '../definition.ts';
import { foundProblem, instant, leaseReason, reference, taxonomyIds, timeWindow } from '../fields.ts';

const forecastKinds = ['traffic', 'availability', 'delivery'] as const;

/** Days that a forecast may look over. */
export const maxForecastDays = 366;

/** A line item that is not there yet. */
const prospective = {
  type: lineItemSettings.type.exclude(['sponsorship', 'exclusive']).default('guaranteed'),
  priority: lineItemSettings.priority.default(5),
  /** Ads that somebody wants; absent: how many there are is the question. */
  quantity: z.int().min(1).max(1_000_000_000_000).optional(),
  break_positions: lineItemSettings.break_positions.default(['pre', 'mid', 'post']),
  frequency_caps: lineItemSettings.frequency_caps.default([]),
  /** Length of its ad. */
  duration_ms: z.int().min(1000).max(3_600_000).default(30_000),
  ad_product_categories: taxonomyIds.default([]),
};

const count = z.int().min(0);
/** The tenth, the fiftieth and the ninetieth of a hundred outcomes. */
const range = z.strictObject({ p10: count, p50: count, p90: count });
const day = z.iso.date();

const result = {
  as_of: instant,
  /** SHA-256 of the plan of everything that is sold or reserved. */
  plan_digest: z.string(),
  /** The version of the workspace's bookings. */
  booking_version: count,
  /** Slots that fit, before anybody has them. */
  capacity: range.optional(),
  /** Slots that are left behind every guaranteed line item. */
  available: range.optional(),
  /** Slots that it would get at its own priority. */
  possible: range.optional(),
  /** Of opportunities, or of what is available. */
  by_day: z.array(z.strictObject({ day, ...range.shape })).max(maxForecastDays + 1),
  by_podcast: z.array(z.strictObject({ podcast_id: z.string(), ...range.shape })).max(50),
  by_position: z.array(z.strictObject({ position: adPosition, ...range.shape })).max(3),
  /** Line items that would get less. */
  contending: z
    .array(
      z.strictObject({
        line_item_id: reference('li'),
        loses: count,
        of_goal: count.optional(),
        tier: lineItemSettings.type,
      }),
    )
    .max(50),
  /** What line items will have at the end of the window. */
  line_items: z
    .array(
      z.strictObject({
        line_item_id: reference('li'),
        goal: count.optional(),
        ...range.shape,
        /** What speaks most often against it, where it ends short. */
        verdict: z.string().max(64).optional(),
        by_day: z
          .array(z.strictObject({ day, quantity: count }))
          .max(maxForecastDays + 1)
          .optional(),
      }),
    )
    .max(1000),
  confidence: z.strictObject({
    level: z.number(),
    low: count,
    /** Absent where the number is zero for want of facts: nothing says how much there may be. */
    high: count.optional(),
    method: z.enum(['backtest', 'prior']),
  }),
  sample: z.strictObject({ days: count, rows: count, effective: count }),
  /** Podcasts with facts of less than 14 days, or fewer than 3 episodes. */
  learning_podcasts: z.array(z.string()).max(200),
  /** Codes that docs/forecasting.md explains. */
  assumptions: z.array(z.string().max(64)).max(20),
  modifiers: z
    .array(z.strictObject({ traffic_modifier_id: reference('tmf'), factor: z.number(), window: timeWindow }))
    .max(200),
};

const requested = {
  kind: z.enum(forecastKinds),
  window: timeWindow,
  /** Line items that are there: one for availability, any number for delivery. */
  line_item_ids: z.array(reference('li')).min(1).max(1000).optional(),
};

/** Forecasts: how much traffic there will be, how much of it can be sold, and what sold line items will get. */
export const forecasts = defineResource({
  type: 'forecasts',
  noun: 'forecast',
  prefix: 'fcs',
  attributes: z.strictObject({
    ...requested,
    prospective: z.strictObject({ ...prospective, targeting: storedTargeting }).optional(),
    requested_by: z.string(),
    ...z.strictObject(result).partial().shape,
    /** When the result is too old to be relied on. */
    expires_at: instant.optional(),
    problem: foundProblem.optional(),
  }),
  states: ['requested', 'running', 'ready', 'expired', 'failed', 'cancelled'],
  terminalStates: ['expired', 'failed', 'cancelled'],
  links: {},
  readers: commerceRoles,
  uniqueAttributes: [],
});

const base = { subject: 'forecasts', hasRule: true } as const;
const report = { ...base, reason: leaseReason, machines: ['forecaster'], problems: ['lease_lost'] } as const;
const askers = ['trafficker', 'sales', 'admin'] as const;

export const forecastCommands = {
  'forecast.request': defineCommand({
    ...base,
    type: 'forecast.request',
    to: 'requested',
    changes: z.strictObject({
      ...requested,
      prospective: z.strictObject({ ...prospective, targeting: targeting.prefault({}) }).optional(),
    }),
    roles: askers,
    mode: 'async',
    endedBy: 'forecast.cancel',
    event: 'forecast.requested',
    problems: ['validation_failed', 'link_not_found', 'rate_limited'],
    summary:
      'Asks for traffic, availability or delivery in a window, for a line item that is there or one that is only thought of. A workspace has at most 4 forecasts that wait or run.',
  }),
  'forecast.start': defineCommand({
    ...report,
    type: 'forecast.start',
    // Another attempt starts it again.
    from: ['requested', 'running'],
    to: 'running',
    changes: z.strictObject({}),
    event: 'forecast.started',
    summary: 'A worker has begun the forecast.',
  }),
  'forecast.complete': defineCommand({
    ...report,
    type: 'forecast.complete',
    from: ['running'],
    to: 'ready',
    changes: z.strictObject(result),
    settles: 'succeeded',
    event: 'forecast.completed',
    summary: 'The result is there.',
  }),
  'forecast.fail': defineCommand({
    ...report,
    type: 'forecast.fail',
    from: ['requested', 'running'],
    to: 'failed',
    changes: z.strictObject({ problem: foundProblem }),
    settles: 'failed',
    event: 'forecast.failed',
    summary: 'The forecast could not be made; records the reason.',
  }),
  'forecast.cancel': defineCommand({
    ...base,
    type: 'forecast.cancel',
    from: ['requested', 'running'],
    to: 'cancelled',
    changes: z.strictObject({}),
    roles: askers,
    settles: 'cancelled',
    event: 'forecast.cancelled',
    summary: 'Stops a forecast.',
  }),
  'forecast.expire': defineCommand({
    ...base,
    hasRule: false,
    type: 'forecast.expire',
    from: ['ready'],
    to: 'expired',
    changes: z.strictObject({}),
    machines: ['management'],
    event: 'forecast.expired',
    summary: 'The clock ends a forecast that is too old to be relied on.',
  }),
} as const;
