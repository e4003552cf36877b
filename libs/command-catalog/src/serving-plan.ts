import { z } from 'zod';
import { defineCommand, defineResource } from './definition.ts';
import { foundProblem, instant, leaseReason, sha256 } from './fields.ts';

const compiled = {
  storage_key: z.string(),
  digest: sha256,
  counts: z.strictObject({ line_items: z.int().min(0), creatives: z.int().min(0) }),
};

/** Serving plans: a compiled, content-addressed snapshot of what may serve. */
export const servingPlans = defineResource({
  type: 'serving_plans',
  noun: 'serving_plan',
  prefix: 'spl',
  attributes: z.strictObject({
    effective_from: instant,
    ...z.object(compiled).partial().shape,
    problem: foundProblem.optional(),
  }),
  states: ['compiling', 'ready', 'published', 'superseded', 'rolled_back', 'failed'],
  terminalStates: ['superseded', 'rolled_back', 'failed'],
  links: {},
  uniqueAttributes: [],
});

export const servingPlanCommands = {
  'serving_plan.compile': defineCommand({
    type: 'serving_plan.compile',
    subject: 'serving_plans',
    to: 'compiling',
    changes: z.strictObject({ effective_from: instant }),
    roles: ['trafficker', 'admin'],
    mode: 'async',
    event: 'serving_plan.requested',
    ruled: true,
    externalEffect: 'The compiled plan is written to the object store.',
    summary: 'Compiles everything booked into one serving plan.',
  }),
  'serving_plan.record_compiled': defineCommand({
    type: 'serving_plan.record_compiled',
    subject: 'serving_plans',
    from: ['compiling'],
    to: 'ready',
    changes: z.strictObject(compiled),
    reason: leaseReason,
    machines: ['management'],
    settles: 'succeeded',
    event: 'serving_plan.compiled',
    ruled: true,
    problems: ['lease_lost'],
    summary: 'The compiler reports the finished plan.',
  }),
  'serving_plan.fail': defineCommand({
    type: 'serving_plan.fail',
    subject: 'serving_plans',
    from: ['compiling'],
    to: 'failed',
    changes: z.strictObject({ problem: foundProblem }),
    reason: leaseReason,
    machines: ['management'],
    settles: 'failed',
    event: 'serving_plan.failed',
    ruled: true,
    problems: ['lease_lost'],
    summary: 'The compiler gives up after several tries.',
  }),
  'serving_plan.publish': defineCommand({
    type: 'serving_plan.publish',
    subject: 'serving_plans',
    from: ['ready'],
    to: 'published',
    changes: z.strictObject({}),
    roles: ['trafficker', 'admin'],
    review: 'policy',
    versionGuard: 'required',
    event: 'serving_plan.published',
    externalEffect: 'Ad decisions use this plan within seconds.',
    summary: 'Publishes a compiled plan; the earlier one is superseded.',
  }),
  'serving_plan.supersede': defineCommand({
    type: 'serving_plan.supersede',
    subject: 'serving_plans',
    from: ['published'],
    to: 'superseded',
    changes: z.strictObject({}),
    machines: ['management'],
    event: 'serving_plan.superseded',
    summary: 'Retires the plan that a newer one replaced.',
  }),
} as const;
