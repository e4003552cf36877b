import type { PolicyVersion } from '@longwave/command-pipeline';
import type { Role } from '@longwave/principal';
import type { PolicyInForce } from '../policies/policies-in-force.ts';

/** What review policies demand of one command. */
export interface ReviewDemand {
  readonly mode: 'single' | 'dual';
  /** Each of these roles may approve. */
  readonly roles: readonly Role[];
  /** The shortest time that a matching rule gives the reviewers, in hours; undefined when none names one. */
  readonly dueHours?: number | undefined;
  /** The policies that demand it. */
  readonly policyVersions: readonly PolicyVersion[];
}

const microsAt = (value: unknown, ...path: readonly string[]): bigint | undefined => {
  const found = path.reduce<unknown>(
    (inner, name) =>
      typeof inner === 'object' && inner !== null ? (inner as Record<string, unknown>)[name] : undefined,
    value,
  );
  return typeof found === 'string' && /^\d+$/.test(found) ? BigInt(found) : undefined;
};

/** The price of a line item or the budget of a campaign, in micros, as the command leaves it; undefined for what has neither. */
function amountOf(attributes: Readonly<Record<string, unknown>>): bigint | undefined {
  return microsAt(attributes, 'rate', 'price', 'amount_micros') ?? microsAt(attributes, 'budget', 'amount_micros');
}

/** Whether any rule of these policies about a command asks for product categories. */
export const asksForCategories = (policies: readonly PolicyInForce<'review'>[], commandType: string): boolean =>
  policies.some(({ rules: { rules } }) =>
    rules.some((rule) => rule.command_types.includes(commandType) && rule.ad_product_categories !== undefined),
  );

/**
 * The strictest review that the policies in force demand of a command; undefined when none does. A rule with an amount is not about what
 * has no amount, and one with categories not about what has none of them.
 * @param attributes of the subject, with the changes of the command
 * @param categories of the advertiser that the subject is or belongs to, and of its creatives
 */
export function reviewDemand(
  policies: readonly PolicyInForce<'review'>[],
  commandType: string,
  attributes: Readonly<Record<string, unknown>>,
  categories: readonly string[] = [],
): ReviewDemand | undefined {
  const amount = amountOf(attributes);
  const matching = policies.flatMap(({ id, version, rules: { rules } }) =>
    rules
      .filter((rule) => rule.command_types.includes(commandType))
      .filter(({ min_amount_micros: min }) => min === undefined || (amount !== undefined && amount >= BigInt(min)))
      .filter(({ ad_product_categories: only }) => only === undefined || only.some((one) => categories.includes(one)))
      .map((rule) => ({ ...rule, policy: { id, version } })),
  );
  const strictest = matching.find(({ mode }) => mode === 'dual') ?? matching[0];
  if (!strictest) return undefined;
  const ids = new Set(matching.map(({ policy }) => policy.id));
  const policyVersions = policies.filter(({ id }) => ids.has(id)).map(({ id, version }) => ({ id, version }));
  const hours = matching.flatMap(({ due_hours: due }) => due ?? []);
  const dueHours = hours.length > 0 ? Math.min(...hours) : undefined;
  return { mode: strictest.mode, roles: strictest.reviewer_roles, dueHours, policyVersions };
}
