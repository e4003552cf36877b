import { z } from 'zod';
import { defineCommand, defineResource } from '../definition.ts';
import { policyKinds } from '../workspace/policy-terms.ts';
import { cause, foundProblem, instant, leaseReason, reference, sha256, stateReason } from '../fields.ts';

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
    /** The earlier plan to which a rollback returns. */
    target_id: reference('spl').optional(),
    /** The plan whose content this one repeats. */
    republishes: reference('spl').optional(),
    /** The plan whose content this one has under other policies. */
    renews: reference('spl').optional(),
    /** Publication of the first plan with this content, where it was renewed: renewals keep their place among the plans. */
    published_at: instant.optional(),
    /** The policies under which it decides, in the order of ids; absent when there are none. */
    policies: z
      .array(z.strictObject({ id: reference('pol'), version: z.int().min(1), kind: z.enum(policyKinds) }))
      .optional(),
    /** SHA-256 (hex) of their document. */
    policies_digest: sha256.optional(),
    state_reason: stateReason,
  }),
  states: ['compiling', 'ready', 'published', 'superseded', 'rolled_back', 'failed'],
  terminalStates: ['superseded', 'rolled_back', 'failed'],
  links: {
    target: { attribute: 'target_id', type: 'serving_plans' },
    republishes: { attribute: 'republishes', type: 'serving_plans' },
    renews: { attribute: 'renews', type: 'serving_plans' },
  },
  uniqueAttributes: [],
  sortKeys: { effective_from: { stable: false, at: ['effective_from'] } },
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
    hasRule: true,
    externalEffect: 'The compiled plan is written to the object store.',
    summary: 'Compiles all booked line items into one serving plan.',
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
    hasRule: true,
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
    hasRule: true,
    problems: ['lease_lost'],
    summary: 'The compiler failed after several attempts.',
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
    hasRule: true,
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
  'serving_plan.rollback': defineCommand({
    type: 'serving_plan.rollback',
    subject: 'serving_plans',
    from: ['published'],
    to: 'rolled_back',
    changes: z.strictObject({ target_id: reference('spl'), cause }),
    roles: ['trafficker', 'admin'],
    versionGuard: 'required',
    event: 'serving_plan.rolled_back',
    hasRule: true,
    problems: ['validation_failed', 'link_not_found'],
    externalEffect: 'Within seconds, ad decisions use the content of the earlier plan.',
    summary: 'Rolls back a published plan; the content of the earlier plan is published again as a new plan.',
  }),
  'serving_plan.republish': defineCommand({
    type: 'serving_plan.republish',
    subject: 'serving_plans',
    to: 'published',
    changes: z.strictObject({ republishes: reference('spl') }),
    machines: ['management'],
    event: 'serving_plan.republished',
    hasRule: true,
    problems: ['link_not_found'],
    externalEffect: 'Ad decisions use this plan within seconds.',
    summary: 'Publishes the content of an earlier plan again.',
  }),
  'serving_plan.renew_policies': defineCommand({
    type: 'serving_plan.renew_policies',
    subject: 'serving_plans',
    to: 'published',
    changes: z.strictObject({ renews: reference('spl') }),
    machines: ['management'],
    event: 'serving_plan.policies_renewed',
    hasRule: true,
    problems: ['state_not_allowed'],
    externalEffect: 'Ad decisions use this plan within seconds.',
    summary: 'Publishes the content of a published plan again, under the policies that are in force now.',
  }),
} as const;
