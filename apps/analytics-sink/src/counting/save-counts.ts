import type { Transaction } from '@longwave/postgres';
import { saveAds } from '../ads/ad-ledger.ts';
import type { ChangeBasis } from './change-basis.ts';
import { appendDownloadChanges } from './download-ledger.ts';
import type { CountsChange } from '../velocity/apply-velocity.ts';
import { saveRolling, saveSessions } from './session-table.ts';

/** Replaces the stored counts `before` by `after`, and appends the difference to ledgers and totals. The caller holds the locks of chains and days. */
export async function saveCounts(tx: Transaction, { before, after }: CountsChange, basis: ChangeBasis): Promise<void> {
  await saveSessions(tx, before, after);
  await saveRolling(tx, before, after);
  await saveAds(tx, before, after, basis);
  await appendDownloadChanges(tx, before, after, basis);
}
