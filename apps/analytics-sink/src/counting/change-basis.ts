import { methodologyVersion } from '@longwave/audience';
import { newestOwnFact, settlingMs } from '@longwave/audience-store';
import type { Transaction } from '@longwave/postgres';

/** Fields that are equal in all rows of a ledger that one transaction appends. */
export interface ChangeBasis {
  readonly listsVersion: string;
  /** Hours that begin before this are closed, and a change restates them. Milliseconds since the epoch. */
  readonly openFromMs: number;
}

/** A session may grow until 24 h after its start, which is within 25 h of the hour it belongs to. */
const openForMs = 25 * 3_600_000;

/**
 * Reads which hours are closed (docs/counting.md#corrections), by the time of the facts and not by the clock, so that catching up restates
 * nothing: the newest stored fact of our own, less the time that parts of the bus may be behind one another, less the longest session.
 */
export async function readChangeBasis(tx: Transaction, listsVersion: string): Promise<ChangeBasis> {
  const { rows } = await tx.query<{ latest: Date }>(newestOwnFact);
  const latest = rows[0]?.latest;
  return { listsVersion, openFromMs: latest ? latest.getTime() - settlingMs - openForMs : -Infinity };
}

/** A change of an hour as a row of the ledger. */
export const asLedgerRow = <R extends { readonly hour: string }>(
  row: R,
  { listsVersion, openFromMs }: ChangeBasis,
) => ({
  ...row,
  methodology_version: methodologyVersion,
  lists_version: listsVersion,
  restates: Date.parse(row.hour) <= openFromMs,
});

/** The UTC hour of a time in RFC 3339 with `Z`. */
export const hourOf = (startedAt: string) => `${startedAt.slice(0, 13)}:00:00.000Z`;
