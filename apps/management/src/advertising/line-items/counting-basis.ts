import type { PolicyVersion } from '@longwave/command-pipeline';
import type { Transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { listPoliciesInForce } from '../../workspace/policies/policies-in-force.ts';
import type { LineItem } from './line-item.ts';

type CountingBasis = LineItem['counting_basis'];

const findPolicy = async (tx: Transaction, workspaceId: string) =>
  (await listPoliciesInForce(tx, workspaceId, ['measurement']))[0];

/** The counting basis of a new line item that names none: the policy's, else ads delivered. */
export const defaultCountingBasis = async (tx: Transaction, workspaceId: string): Promise<CountingBasis> =>
  (await findPolicy(tx, workspaceId))?.rules.default_counting_basis ?? 'ad_delivered';

/** Throws `policy_rejected` for a counting basis that the policy in force does not allow; answers the policy for the receipt. */
export async function requireCountingBasis(
  tx: Transaction,
  workspaceId: string,
  basis: CountingBasis,
): Promise<readonly PolicyVersion[]> {
  const policy = await findPolicy(tx, workspaceId);
  const allowed = policy?.rules.allowed_counting_bases;
  if (!policy || !allowed) return [];
  if (!allowed.includes(basis)) {
    const detail = `The measurement policy ${policy.id} allows line items that count by ${allowed.join(' or ')}.`;
    const errors = [{ path: '/attributes/counting_basis', code: 'policy_rejected', detail }];
    throw new Problem('policy_rejected', detail, { errors });
  }
  return [{ id: policy.id, version: policy.version }];
}
