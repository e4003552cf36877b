import type { Columns } from '@longwave/audience-store';
import { transaction, type Pool, type Transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { readChangeBasis } from '../counting/change-basis.ts';
import { applyHolds } from './apply-velocity.ts';
import { saveCounts } from '../counting/save-counts.ts';
import { findDays, lockDays, type AnomalyDecision, type VelocityDay, type VelocityKey } from './velocity-table.ts';

/** A person's decision about a key and day. */
export interface Decision extends VelocityKey {
  readonly decision: AnomalyDecision;
  readonly decidedBy: string;
  readonly reason: string;
}

/** The addresses of a listener's day, which are locked before it as in counting. */
async function addressesOf(tx: Transaction, { kind, key, day }: VelocityKey): Promise<VelocityKey[]> {
  if (kind === 'address') return [];
  const { rows } = await tx.query<Columns<'session', 'address_key'>>(
    `select address_key from session where listener_key = $1 and window_on = $2 and not address_safe and address_key <> ''
     union select address_key from rolling_download
     where listener_key = $1 and (started_at at time zone 'UTC')::date = $2 and not address_safe and address_key <> ''`,
    [key, day],
  );
  return rows.map((row) => ({ kind: 'address', key: row.address_key, day }));
}

/**
 * Releases or rejects the downloads of a key and day: appends the decision and changes the counts in one transaction.
 * Throws `not_found` when rule 16 does not hold the day.
 */
export async function decideAnomaly(pool: Pool, decision: Decision, listsVersion: string): Promise<VelocityDay> {
  const { kind, key, day } = decision;
  return transaction(pool, async (tx) => {
    const basis = await readChangeBasis(tx, listsVersion);
    const known = await findDays(tx, [decision]);
    if (known.length > 0)
      await lockDays(
        tx,
        [...(await addressesOf(tx, decision)), { kind, key, day }].map((one) => ({ ...one, downloads: 0 })),
      );
    const [old] = await findDays(tx, [decision]);
    if (!old?.infeasible) throw new Problem('not_found', 'No downloads of this key are held on this day.');
    await tx.query(
      `with decided as (
         insert into anomaly_decision (kind, key, day, decision, reason, decided_by) values ($1, $2, $3, $4, $5, $6) returning *)
       update velocity_day v set decision = d.decision from decided d where (v.kind, v.key, v.day) = (d.kind, d.key, d.day)`,
      [kind, key, day, decision.decision, decision.reason, decision.decidedBy],
    );
    const now = { ...old, decision: decision.decision };
    // Of what is held, cohorts of ads tell apart what nobody has rejected.
    if (old.decision !== now.decision)
      await saveCounts(
        tx,
        await applyHolds(tx, [old], [now], { sessions: [], rolling: [], ads: [], written: [] }),
        basis,
      );
    return now;
  });
}

/** Keys and days above the limits, the latest first, at most 1000. */
export async function listAnomalies(pool: Pool, undecided: boolean): Promise<VelocityDay[]> {
  const { rows } = await pool.query<VelocityDay>(
    `select kind, key, day::text, downloads::int, infeasible, decision from velocity_day
     where infeasible and ($1 = false or decision is null) order by velocity_day.day desc, kind, key limit 1000`,
    [undecided],
  );
  return rows;
}
