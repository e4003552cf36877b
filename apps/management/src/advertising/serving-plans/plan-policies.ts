import { createHash } from 'node:crypto';
import { productCatalog, type Attributes, type PolicyKind } from '@longwave/command-catalog';
import { listInStates, type ResourceRow } from '@longwave/command-pipeline';
import { planPoliciesKey, planPoliciesSchema, type PlanPolicy } from '@longwave/events';
import type { ObjectStore } from '@longwave/object-store';
import type { Pool, Transaction } from '@longwave/postgres';
import canonicalize from 'canonicalize';
import { listPoliciesInForce, type PolicyInForce } from '../../workspace/policies/policies-in-force.ts';
import { coverageOf } from './plan-targeting.ts';

/** The kinds that decisions about ads obey. */
const planKinds = [
  'frequency',
  'separation',
  'brand_safety',
  'ad_load',
  'privacy',
] as const satisfies readonly PolicyKind[];

/** The policies of a plan as its resource names them; nothing when there are none. */
export type NamedPolicies = Pick<Attributes<'serving_plans'>, 'policies' | 'policies_digest'>;

/** Where a policy holds, with its inventory units resolved as line items' units are. A network is the whole workspace. */
function placeOf(
  { scope }: PolicyInForce,
  units: ReadonlyMap<string, ResourceRow<'inventory_units'>>,
): PlanPolicy['place'] {
  if (scope.kind === 'workspace') return null;
  if (scope.kind === 'podcasts') return { podcasts: [...scope.podcast_ids], episodes: [] };
  const { everything, podcasts, episodes } = coverageOf(scope.inventory_unit_ids.flatMap((id) => units.get(id) ?? []));
  return everything ? null : { podcasts: [...podcasts], episodes: [...episodes] };
}

/**
 * The policies in force that decisions obey, stored as the document of a plan. Policies of units in any state hold: a unit that is no
 * longer sold may be a part of another one.
 */
export async function storePlanPolicies(
  db: Pool | Transaction,
  store: ObjectStore,
  workspaceId: string,
): Promise<NamedPolicies> {
  const inForce = await listPoliciesInForce(db, workspaceId, planKinds);
  if (inForce.length === 0) return {};
  const states = productCatalog.resources.inventory_units.states;
  const units = inForce.some(({ scope }) => scope.kind === 'inventory_units')
    ? new Map((await listInStates(db, workspaceId, 'inventory_units', states)).map((unit) => [unit.id, unit]))
    : new Map<string, ResourceRow<'inventory_units'>>();
  const document = planPoliciesSchema.parse({
    format: 1,
    workspace_id: workspaceId,
    policies: inForce.map((policy) => {
      const { id, version, kind, rules } = policy;
      return { id, version, kind, place: placeOf(policy, units), rules };
    }),
  });
  const bytes = Buffer.from(canonicalize(document)!);
  const digest = createHash('sha256').update(bytes).digest('hex');
  await store.put(planPoliciesKey(digest), bytes, { contentType: 'application/json', sizeBytes: bytes.length });
  return { policies: inForce.map(({ id, version, kind }) => ({ id, version, kind })), policies_digest: digest };
}
