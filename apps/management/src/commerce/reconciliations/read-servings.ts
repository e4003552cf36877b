import { idPrefixes, isId } from '@longwave/ids';
import type { CountedRow } from './counted-row.ts';
import type { LedgerClient } from './read-ledger.ts';

/** A serving that a source names, as our ledger knows it. */
interface KnownServing {
  readonly lineItemId: string;
  readonly creativeId: string;
  /** The hour of UTC that has its unit; absent: it has none in the units of its line item. */
  readonly hourMs?: number;
}

/** Servings by their ids; ids that no serving of the workspace has are absent. */
export type KnownServings = ReadonlyMap<string, KnownServing>;

const batchSize = 1000;
const readMs = 30_000;

/**
 * Reads the servings that rows name, each in the units of its line item. Throws `temporarily_unavailable` for times that the sink does not
 * answer for yet.
 * @param bases what each line item of the scope is counted by; a serving of another one has no hour
 */
export async function readServings(
  ledger: Pick<LedgerClient, 'readServings'>,
  rows: readonly CountedRow[],
  about: {
    readonly workspaceId: string;
    readonly bases: ReadonlyMap<string, string>;
    /** As `readHours` had it. */
    readonly knownAt: Date;
    readonly signal: AbortSignal;
  },
): Promise<KnownServings> {
  const named = new Set<string>();
  for (const { serving } of rows) if (serving !== undefined && isId(serving, idPrefixes.serving)) named.add(serving);
  const known = new Map<string, KnownServing>();
  const ids = [...named];
  const options = { deadlineMs: readMs, signal: about.signal };
  const bases = [...new Set(about.bases.values())];
  for (let first = 0; first < ids.length; first += batchSize) {
    const asked = {
      ...{ workspaceId: about.workspaceId, servingIds: ids.slice(first, first + batchSize) },
      knownAtMs: BigInt(about.knownAt.getTime()),
    };
    // There are five bases at most.
    const answers = await Promise.all(
      bases.map((countingBasis) => ledger.readServings({ ...asked, countingBasis }, options)),
    );
    for (const [at, { servings }] of answers.entries())
      for (const { servingId, lineItemId, creativeId, hourMs } of servings) {
        const isCounted = hourMs !== undefined && about.bases.get(lineItemId) === bases[at];
        if (isCounted) known.set(servingId, { lineItemId, creativeId, hourMs: Number(hourMs) });
        else if (!known.has(servingId)) known.set(servingId, { lineItemId, creativeId });
      }
  }
  return known;
}
