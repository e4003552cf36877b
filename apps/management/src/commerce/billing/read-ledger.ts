import type { LedgerReading, LineItemTerms } from '@longwave/money';
import { isChargedByUnits } from '@longwave/money';
import type { RpcClient } from '@longwave/rpc';
import type { LedgerServiceService } from '@longwave/rpc/audience';
import type { BillingStatement } from './billing-statement.ts';

/** The calls of the sink that statements are computed from. */
export type Ledger = Pick<RpcClient<typeof LedgerServiceService>, 'readUnits' | 'listAdjustments'>;

/** Line items may have had millions of servings. */
const deadlineMs = 60_000;
const chunk = 1000;

/** What the ledger said of the line items of a statement, as it was known at the time of the statement. */
export interface LedgerContent {
  readonly readings: readonly LedgerReading[];
  readonly methodologyVersion: string;
  readonly listsVersion: string;
}

interface Call {
  readonly workspaceId: string;
  readonly knownAtMs: bigint;
  readonly signal: AbortSignal | undefined;
}

/**
 * Until when deliveries are counted: the latest time of knowledge for which the ledger answers. Asked for what was known at the epoch, which
 * is nothing.
 * @param lineItemId any line item of the workspace
 */
export async function readWatermark(
  ledger: Pick<Ledger, 'readUnits'>,
  workspaceId: string,
  lineItemId: string,
): Promise<Date> {
  const { completeUntilMs } = await ledger.readUnits(
    { workspaceId, lineItemId, countingBasis: 'ad_delivered', untilMs: 0n, knownAtMs: 0n, decidedBoundsMs: [] },
    { deadlineMs },
  );
  return new Date(Number(completeUntilMs));
}

async function listAdjustments(
  ledger: Ledger,
  lineItemIds: readonly string[],
  { workspaceId, knownAtMs, signal }: Call,
) {
  const found = [];
  for (let at = 0; at < lineItemIds.length; at += chunk) {
    const some = lineItemIds.slice(at, at + chunk);
    const { adjustments } = await ledger.listAdjustments(
      { workspaceId, lineItemIds: some, knownAtMs },
      { deadlineMs, signal },
    );
    found.push(...adjustments);
  }
  return found.map(({ lineItemId, reconciliationId, itemId, day, quantity, countingBasis: basis }) => ({
    lineItemId,
    adjustment: { reconciliation_id: reconciliationId, item_id: itemId, day, quantity: Number(quantity), basis },
  }));
}

/** Units of a line item by price, before the start and the end of what is charged, each counted in the basis of its price. */
async function readLineItem(
  ledger: Ledger,
  { line_item_id: lineItemId, rates }: LineItemTerms,
  charged: BillingStatement['inputs']['charged'],
  { workspaceId, knownAtMs, signal }: Call,
) {
  const decidedBoundsMs = rates.slice(1).map(({ from }) => BigInt(Date.parse(from)));
  const bases = new Set(rates.filter(({ model }) => isChargedByUnits(model)).map(({ basis }) => basis));
  const units = { start: rates.map(() => 0), end: rates.map(() => 0) };
  const versions = new Set<string>();
  let methodologyVersion = '';
  for (const countingBasis of bases)
    for (const bound of ['start', 'end'] as const) {
      const untilMs = BigInt(Date.parse(charged[bound]));
      const answer = await ledger.readUnits(
        { workspaceId, lineItemId, countingBasis, untilMs, knownAtMs, decidedBoundsMs },
        { deadlineMs, signal },
      );
      for (const [place, { model, basis }] of rates.entries())
        if (basis === countingBasis && isChargedByUnits(model)) units[bound][place] = Number(answer.units[place] ?? 0n);
      methodologyVersion = answer.methodologyVersion;
      versions.add(answer.listsVersion);
    }
  return { units, methodologyVersion, versions };
}

/** Of which line items, between which times, and as known when. */
interface LedgerQuestion extends Pick<BillingStatement['inputs'], 'charged' | 'known_at'> {
  readonly line_items: readonly LineItemTerms[];
}

/** Reads what a statement is computed from, as the ledger knew it then: the same statement reads the same at any later time. */
export async function readLedger(
  ledger: Ledger,
  workspaceId: string,
  { line_items: lineItems, charged, known_at: knownAt }: LedgerQuestion,
  signal?: AbortSignal,
): Promise<LedgerContent> {
  const call: Call = { workspaceId, knownAtMs: BigInt(Date.parse(knownAt)), signal };
  const ids = lineItems.map(({ line_item_id: id }) => id);
  const adjustments = Map.groupBy(await listAdjustments(ledger, ids, call), ({ lineItemId }) => lineItemId);
  const readings: LedgerReading[] = [];
  const found = { methodologyVersion: '', versions: new Set<string>() };
  for (const lineItem of lineItems) {
    const { units, methodologyVersion, versions } = await readLineItem(ledger, lineItem, charged, call);
    if (methodologyVersion) found.methodologyVersion = methodologyVersion;
    for (const version of versions) found.versions.add(version);
    readings.push({
      ...{ line_item_id: lineItem.line_item_id, units },
      adjustments: (adjustments.get(lineItem.line_item_id) ?? []).map(({ adjustment }) => adjustment),
    });
  }
  return {
    readings,
    methodologyVersion: found.methodologyVersion,
    listsVersion: [...found.versions].toSorted().join(', '),
  };
}
