import {
  policyRulesOf,
  productCatalog,
  policyScopes,
  type Attributes,
  type PolicyScope,
  type Catalog,
} from '@longwave/command-catalog';
import type { Rules } from '@longwave/command-pipeline';
import type { Transaction } from '@longwave/postgres';
import { parseOrProblem, Problem } from '@longwave/problems';
import { refuseField } from '../refuse-field.ts';
import { requireResources } from '../require-resources.ts';

type Policy = Attributes<'policies'>;
type PolicyCommandRules = Pick<
  Rules<typeof productCatalog>,
  'policy.create' | 'policy.revise' | 'policy.submit' | 'policy.activate' | 'policy.retire'
>;

const distinct = (ids: readonly string[]) => [...new Set(ids)].sort();

/** The scope with its ids in order and without repetitions, so that equal scopes are equal values. */
function normalScope(scope: PolicyScope): PolicyScope {
  if (scope.kind === 'podcasts') return { ...scope, podcast_ids: distinct(scope.podcast_ids) };
  if (scope.kind === 'inventory_units') return { ...scope, inventory_unit_ids: distinct(scope.inventory_unit_ids) };
  return scope;
}

/** Throws `link_not_found` unless everything that scope and rules name is there. */
async function requireNamed(tx: Transaction, workspaceId: string, { kind, scope, rules }: Policy): Promise<void> {
  const require = (type: 'podcasts' | 'inventory_units' | 'advertisers', ids: readonly string[], path: string) =>
    requireResources(tx, { workspaceId, type, ids, path });
  if (scope.kind === 'podcasts') await require('podcasts', scope.podcast_ids, '/changes/scope/podcast_ids');
  if (scope.kind === 'inventory_units')
    await require('inventory_units', scope.inventory_unit_ids, '/changes/scope/inventory_unit_ids');
  if (kind !== 'brand_safety') return;
  const { blocked_advertiser_ids: ids = [] } = parseOrProblem(policyRulesOf('brand_safety'), rules);
  await require('advertisers', distinct(ids), '/changes/rules/blocked_advertiser_ids');
}

/** Throws `validation_failed` for a command that is never reviewed. */
function checkReviewed({ kind, rules }: Policy): void {
  if (kind !== 'review') return;
  const definitions: Catalog['commands'] = productCatalog.commands;
  parseOrProblem(policyRulesOf('review'), rules).rules.forEach(({ command_types: types }, at) => {
    for (const type of types)
      if ((definitions[type]?.review ?? 'none') === 'none')
        refuseField(`/changes/rules/rules/${at}/command_types`, 'not_reviewed', `${type} is never reviewed.`);
  });
}

/** Throws `validation_failed` unless kind, scope and rules belong together. */
function checkTerms({ kind, scope, rules }: Policy): void {
  const parsed = policyRulesOf(kind).safeParse(rules);
  const [issue] = parsed.error?.issues ?? [];
  if (issue) refuseField(['/changes/rules', ...issue.path].join('/'), 'invalid_rules', issue.message);
  if (!policyScopes[kind].includes(scope.kind))
    refuseField('/changes/scope/kind', 'wrong_scope', `A policy of the kind ${kind} does not have this scope.`);
}

/** Rules of the policy commands. */
export const policyRules: PolicyCommandRules = {
  'policy.create': async ({ tx, workspaceId, changes }) => {
    const attributes: Policy = { ...changes, scope: normalScope(changes.scope) };
    checkReviewed(attributes);
    await requireNamed(tx, workspaceId, attributes);
    return { attributes };
  },

  'policy.revise': async ({ tx, workspaceId, current, changes: { scope, ...changed } }) => {
    const attributes: Policy = { ...current, ...changed, ...(scope && { scope: normalScope(scope) }) };
    checkTerms(attributes);
    checkReviewed(attributes);
    await requireNamed(tx, workspaceId, attributes);
    return { attributes };
  },

  'policy.submit': async ({ tx, workspaceId, current, changes, now }) => {
    await requireNamed(tx, workspaceId, current);
    const { effective_at: at } = changes;
    const isAhead = at !== undefined && Date.parse(at) > now.getTime();
    return { attributes: { ...current, effective_at: isAhead ? at : now.toISOString() } };
  },

  'policy.activate': ({ current, now }) => {
    if (Date.parse(current.effective_at!) > now.getTime())
      throw new Problem('state_not_allowed', 'The policy is not in force yet.');
    return { attributes: current };
  },

  'policy.retire': async ({ tx, workspaceId, subjectId, current, changes: { replacement_id: id } }) => {
    if (id === 'none') return { attributes: current };
    const path = '/changes/replacement_id';
    if (id === subjectId) refuseField(path, 'same_policy', 'A policy does not replace itself.');
    const unless = ['draft', 'superseded', 'retired'];
    const [replacement] = await requireResources(tx, { workspaceId, type: 'policies', ids: [id], path, unless });
    if (replacement!.attributes.kind !== current.kind)
      refuseField(path, 'other_kind', 'The replacement is a policy of another kind.');
    return { attributes: { ...current, replacement_id: id } };
  },
};
