import { findResource } from '@longwave/command-pipeline';
import type { Transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';

/**
 * Throws `validation_failed` for a sum in another currency than the workspace's, whose prices are compared and added up.
 * @param path JSON Pointer of the sum
 */
export async function requireCurrency(
  tx: Transaction,
  workspaceId: string,
  sum: { readonly currency: string } | undefined,
  path: string,
): Promise<void> {
  if (!sum) return;
  const workspace = await findResource(tx, workspaceId, 'workspaces', workspaceId);
  const currency = workspace?.attributes.currency ?? sum.currency;
  if (sum.currency === currency) return;
  const detail = `Prices of this workspace are in ${currency}.`;
  throw new Problem('validation_failed', detail, {
    errors: [{ path: `${path}/currency`, code: 'wrong_currency', detail }],
  });
}
