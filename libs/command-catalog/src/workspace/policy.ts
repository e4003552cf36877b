import { z } from 'zod';
import { defineCommand, defineResource } from '../definition.ts';
import { cause, instant, reference, shortText, stateReason } from '../fields.ts';
import { anyPolicyRules, checkPolicyTerms, policyKinds, policyScope } from './policy-terms.ts';

const kind = z.enum(policyKinds);

/** Policies: rules of a workspace that its services obey while the policy is active (docs/policies.md). */
export const policies = defineResource({
  type: 'policies',
  noun: 'policy',
  prefix: 'pol',
  attributes: z.strictObject({
    name: shortText,
    kind,
    scope: policyScope,
    rules: anyPolicyRules,
    /** Time from which a submitted policy is in force. */
    effective_at: instant.optional(),
    /** The policy that takes the place of a retired one. */
    replacement_id: reference('pol').optional(),
    state_reason: stateReason,
  }),
  states: ['draft', 'scheduled', 'active', 'superseded', 'retired'],
  terminalStates: ['superseded', 'retired'],
  links: { replacement: { attribute: 'replacement_id', type: 'policies' } },
  uniqueAttributes: [],
});

const reviewers = ['reviewer', 'admin'] as const;

export const policyCommands = {
  'policy.create': defineCommand({
    type: 'policy.create',
    subject: 'policies',
    to: 'draft',
    changes: z
      .strictObject({ name: shortText, kind, scope: policyScope, rules: anyPolicyRules })
      .check(checkPolicyTerms),
    roles: ['admin'],
    event: 'policy.created',
    hasRule: true,
    problems: ['validation_failed', 'link_not_found'],
    summary: 'Creates a policy of one kind for the whole workspace, or for podcasts or inventory units.',
  }),
  'policy.revise': defineCommand({
    type: 'policy.revise',
    subject: 'policies',
    from: ['draft'],
    changes: z.strictObject({ name: shortText, scope: policyScope, rules: anyPolicyRules }).partial(),
    roles: ['admin'],
    versionGuard: 'required',
    event: 'policy.revised',
    hasRule: true,
    problems: ['validation_failed', 'link_not_found'],
    summary: 'Changes a draft; to change a policy in force, submit another one of its kind and scope.',
  }),
  'policy.submit': defineCommand({
    type: 'policy.submit',
    subject: 'policies',
    from: ['draft'],
    to: 'scheduled',
    changes: z.strictObject({
      /** Absent or past: now. */
      effective_at: instant.optional(),
    }),
    roles: ['admin'],
    review: 'dual',
    reviewers,
    versionGuard: 'required',
    event: 'policy.scheduled',
    hasRule: true,
    problems: ['link_not_found'],
    externalEffect: 'From its time on, the services that docs/policies.md names obey the policy.',
    summary:
      'Submits a draft; once reviewed, it comes into force at its time and supersedes the older one of its kind and scope.',
  }),
  'policy.activate': defineCommand({
    type: 'policy.activate',
    subject: 'policies',
    from: ['scheduled'],
    to: 'active',
    changes: z.strictObject({}),
    machines: ['management'],
    event: 'policy.activated',
    hasRule: true,
    problems: ['state_not_allowed'],
    summary: 'A policy comes into force at its time.',
  }),
  'policy.supersede': defineCommand({
    type: 'policy.supersede',
    subject: 'policies',
    from: ['active'],
    to: 'superseded',
    changes: z.strictObject({}),
    machines: ['management'],
    event: 'policy.superseded',
    summary: 'Ends a policy that a newer one of its kind and scope replaced.',
  }),
  'policy.retire': defineCommand({
    type: 'policy.retire',
    subject: 'policies',
    from: ['scheduled', 'active'],
    to: 'retired',
    changes: z.strictObject({
      replacement_id: z.union([reference('pol'), z.literal('none')]),
      cause: cause.optional(),
    }),
    roles: ['admin'],
    review: 'dual',
    reviewers,
    versionGuard: 'required',
    event: 'policy.retired',
    hasRule: true,
    problems: ['validation_failed', 'link_not_found'],
    externalEffect: 'Services no longer obey the policy.',
    summary:
      'Takes a policy out of force. `replacement_id` names another one of its kind that stays in force, or is `none`.',
  }),
} as const;
