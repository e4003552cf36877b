import { z } from 'zod';
import { countingBasis } from '../advertising/placement.ts';
import { reference, taxonomyIds } from '../fields.ts';

/** The resources that a policy is about. A network of inventory units is the whole workspace. */
export const policyScope = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('workspace') }),
  z.strictObject({ kind: z.literal('podcasts'), podcast_ids: z.array(reference('pod')).min(1).max(1000) }),
  z.strictObject({
    kind: z.literal('inventory_units'),
    inventory_unit_ids: z.array(reference('inv')).min(1).max(1000),
  }),
]);

export type PolicyScope = z.output<typeof policyScope>;

const someRule = { error: 'Name at least one rule.' };
const isFilled = (rules: object) => Object.keys(rules).length > 0;
const daySeconds = 86_400;

/** The least distance between two ads. `minutes` count content between breaks. */
const distance = z
  .strictObject({ scope: z.enum(['break', 'minutes', 'episode']), minutes: z.int().min(1).max(600).optional() })
  .refine((it) => (it.scope === 'minutes') === (it.minutes !== undefined), {
    message: 'Give minutes for the scope “minutes”, and only there.',
    path: ['minutes'],
  });

/** How often one line item serves to one listener, at most, whatever its own caps allow. */
const frequency = z.strictObject({
  caps: z
    .array(
      z.strictObject({
        max: z.int().min(1).max(1000),
        per: z.enum(['listener_bucket', 'episode', 'break']),
        window_seconds: z
          .int()
          .min(1)
          .max(30 * daySeconds),
      }),
    )
    .min(1)
    .max(5),
});

/** The distance of ads of one advertiser, of one group of competitors and of one category, beside the distances that always hold. */
const separation = z
  .strictObject({ advertiser: distance.optional(), group: distance.optional(), category: distance.optional() })
  .refine(isFilled, someRule);

const brandSafety = z
  .strictObject({
    /** Categories of advertisers, and of ads themselves, whose ads do not serve. */
    blocked_ad_categories: taxonomyIds.min(1).optional(),
    blocked_advertiser_ids: z.array(reference('adv')).min(1).max(1000).optional(),
    /** Episodes of these content categories have no ads. */
    blocked_content_categories: taxonomyIds.min(1).optional(),
    /** Explicit episodes have no ads. */
    explicit_episodes: z.literal('blocked').optional(),
  })
  .refine(isFilled, someRule);

const adLoad = z
  .strictObject({
    max_ms_per_play: z.int().min(1000).max(3_600_000).optional(),
    max_ads_per_play: z.int().min(1).max(100).optional(),
    max_ads_per_break: z.int().min(1).max(16).optional(),
  })
  .refine(isFilled, someRule);

const privacy = z
  .strictObject({
    /** Line items that target by one of these do not serve. */
    blocked_targeting: z
      .array(z.enum(['countries', 'regions', 'languages', 'devices', 'operating_systems', 'apps', 'dayparts']))
      .min(1)
      .max(7)
      .optional(),
  })
  .refine(isFilled, someRule);

const measurement = z
  .strictObject({
    /** Of new line items that name none. */
    default_counting_basis: countingBasis.optional(),
    /** The bases under which line items may be submitted and booked. */
    allowed_counting_bases: z.array(countingBasis).min(1).max(4).optional(),
  })
  .refine(isFilled, someRule)
  .refine(
    ({ default_counting_basis: basis, allowed_counting_bases: allowed }) =>
      basis === undefined || allowed === undefined || allowed.includes(basis),
    { error: 'The default is not among those that are allowed.', path: ['default_counting_basis'] },
  );

/** What a play may add to its content, whatever the break plan allows. */
const deliveryBounds = z
  .strictObject({
    max_added_ms: z.int().min(1000).max(3_600_000).optional(),
    max_added_bytes: z.int().min(16_000).max(1_000_000_000).optional(),
    /** Per cent of the length of the content. */
    max_added_pct: z.number().min(1).max(100).optional(),
    /** Per cent by which guaranteed line items may be sold beyond what is left; of a policy for the whole workspace. */
    overbook_pct: z.number().min(0).max(100).optional(),
  })
  .refine(isFilled, someRule);

/** How many days the addresses for players' reports and clicks are on time. */
const token = z.strictObject({ report_token_days: z.int().min(1).max(30) });

/** How long results are kept, at most, whatever the installation allows. */
const retention = z.strictObject({
  /** Days that the result of a report run is kept. */
  report_days: z.int().min(1).max(3_650),
});

/** Reviews that commands need beside the declared ones. */
const review = z.strictObject({
  rules: z
    .array(
      z.strictObject({
        /** Commands whose definition declares a review: “policy”, “host”, “single” or “dual”. */
        command_types: z
          .array(z.string().regex(/^[a-z_]{1,40}\.[a-z_]{1,40}$/, 'Write a command such as “line_item.book”.'))
          .min(1)
          .max(100),
        /** Only from this price or budget on, in millionths of the workspace's currency. */
        min_amount_micros: z
          .string()
          .regex(/^\d{1,18}$/)
          .optional(),
        /** Only for an advertiser, or for what belongs to one, with any of these product categories, and for creatives that name one themselves. */
        ad_product_categories: taxonomyIds.min(1).optional(),
        mode: z.enum(['single', 'dual']),
        /** Hours that reviewers have; absent: a week. */
        due_hours: z.int().min(1).max(720).optional(),
        /** Each of these roles may approve. */
        reviewer_roles: z
          .array(z.enum(['reviewer', 'publisher', 'finance', 'admin']))
          .min(1)
          .max(4),
      }),
    )
    .min(1)
    .max(50),
});

const schemas = {
  frequency,
  separation,
  brand_safety: brandSafety,
  ad_load: adLoad,
  privacy,
  measurement,
  delivery_bounds: deliveryBounds,
  token,
  retention,
  review,
} as const;

export type PolicyKind = keyof typeof schemas;
/** The rules of a policy of one kind. */
export type PolicyRules<K extends PolicyKind = PolicyKind> = z.output<(typeof schemas)[K]>;

/** Every kind that a service obeys (docs/policies.md). */
export const policyKinds = Object.keys(schemas) as [PolicyKind, ...PolicyKind[]];

/** The scopes of policies of each kind. */
export const policyScopes: Readonly<Record<PolicyKind, readonly PolicyScope['kind'][]>> = {
  frequency: ['workspace', 'podcasts', 'inventory_units'],
  separation: ['workspace', 'podcasts', 'inventory_units'],
  brand_safety: ['workspace', 'podcasts', 'inventory_units'],
  ad_load: ['workspace', 'podcasts', 'inventory_units'],
  privacy: ['workspace', 'podcasts', 'inventory_units'],
  measurement: ['workspace'],
  delivery_bounds: ['workspace', 'podcasts'],
  token: ['workspace'],
  retention: ['workspace'],
  review: ['workspace'],
};

/** The closed schema of the rules of one kind. */
export const policyRulesOf = <K extends PolicyKind>(kind: K): (typeof schemas)[K] => schemas[kind];

/**
 * Rules of any kind. Which one is meant, the policy's kind says; `checkPolicyTerms` parses them by it, so that an error names the field.
 * The JSON Schema lists the rules of every kind.
 */
export const anyPolicyRules = z.unknown().meta({
  anyOf: policyKinds.map((kind) => {
    const { $schema: _, ...schema } = z.toJSONSchema(schemas[kind], { io: 'input' });
    return { title: kind, ...schema };
  }),
});

/** A check for closed schemas with `kind` and `rules`: reports what is wrong with the rules for their kind, and a scope that the kind does not have. */
export function checkPolicyTerms({
  value: { kind, rules, scope },
  issues,
}: z.core.ParsePayload<{ kind: PolicyKind; rules: unknown; scope: PolicyScope }>): void {
  const parsed = schemas[kind].safeParse(rules);
  for (const issue of parsed.error?.issues ?? [])
    issues.push({ code: 'custom', message: issue.message, input: rules, path: ['rules', ...issue.path] });
  if (!policyScopes[kind].includes(scope.kind))
    issues.push({
      code: 'custom',
      message: `A policy of the kind ${kind} has the scope ${policyScopes[kind].join(' or ')}.`,
      input: scope,
      path: ['scope', 'kind'],
    });
}
