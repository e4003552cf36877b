import type { Attributes, PolicyKind, PolicyRules } from '@longwave/command-catalog';
import { listInStates, type ResourceRow } from '@longwave/command-pipeline';
import type { Pool, Transaction } from '@longwave/postgres';
import canonicalize from 'canonicalize';

type PolicyRow = ResourceRow<'policies'>;

/** A policy of one kind that is in force. */
export interface PolicyInForce<K extends PolicyKind = PolicyKind> {
  readonly id: string;
  readonly version: number;
  readonly kind: K;
  readonly scope: Attributes<'policies'>['scope'];
  readonly rules: PolicyRules<K>;
}

const isNewer = (a: PolicyRow, b: PolicyRow) => {
  const byTime = Date.parse(a.attributes.effective_at!) - Date.parse(b.attributes.effective_at!);
  return byTime === 0 ? a.id > b.id : byTime > 0;
};

/** Of active policies the newest of each kind and scope: the older ones are about to be superseded. In the order of ids. */
function newestOfEachScope(active: readonly PolicyRow[]): readonly PolicyRow[] {
  const newest = new Map<string, PolicyRow>();
  for (const row of active) {
    const key = canonicalize([row.attributes.kind, row.attributes.scope])!;
    const other = newest.get(key);
    if (!other || isNewer(row, other)) newest.set(key, row);
  }
  return [...newest.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** The policies of these kinds that are in force in a workspace, in the order of ids. */
export async function listPoliciesInForce<K extends PolicyKind>(
  db: Pool | Transaction,
  workspaceId: string,
  kinds: readonly K[],
): Promise<readonly PolicyInForce<K>[]> {
  const active = await listInStates(db, workspaceId, 'policies', ['active']);
  return newestOfEachScope(active).flatMap(({ id, version, attributes }) => {
    const kind = kinds.find((one) => one === attributes.kind);
    // The rules were parsed by their kind when the policy was created.
    return kind ? [{ id, version, kind, scope: attributes.scope, rules: attributes.rules as PolicyRules<K> }] : [];
  });
}
