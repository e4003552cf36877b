import type { Attributes } from '@longwave/command-catalog';
import { StalePreparation, type PolicyVersion } from '@longwave/command-pipeline';
import type { Pool, Transaction } from '@longwave/postgres';
import type { CheckAvailabilityResponse } from '@longwave/rpc/forecast';
import type { LineItem } from '../../advertising/line-items/line-item.ts';
import { listPoliciesInForce } from '../../workspace/policies/policies-in-force.ts';
import { findBookingVersion, lockBookingVersion } from './booking-version-table.ts';
import type { CheckAvailability } from './check-availability.ts';
import { assertNoWorse, overShared, overSold, sharesBreaks, type Overbooking } from './overbooking.ts';
import { readPlanLine } from './read-booked-plan.ts';

type Availability = NonNullable<Attributes<'line_items'>['availability']>;

/** What a line item was told when it was sold, and the policies that decided. */
export interface FoundAvailability {
  readonly availability?: Availability;
  readonly policyVersions: readonly PolicyVersion[];
  /** Of an overbooking, what its reviewers approve. */
  readonly shown?: Overbooking;
}

interface SellingTime {
  readonly tx: Transaction;
  readonly workspaceId: string;
  /** The overbooking that reviewers approved; absent where they were shown none. */
  readonly approved?: unknown;
  /** Set while an approved command runs: undefined while it is requested. */
  readonly reviewedVersion?: number | undefined;
  readonly now: Date;
}

/** Decides inside the transaction, by what was found before it. */
export type RequireAvailability = (at: SellingTime, overbooks: boolean) => Promise<FoundAvailability>;

const unchecked: RequireAvailability = async () => ({ policyVersions: [] });

/** Whether anything is promised to a line item, so that it may take what others were promised: what competes by price, or fills what is left, is promised nothing. */
const isPromised = ({ type, goal }: Pick<LineItem, 'type' | 'goal'>) =>
  type === 'guaranteed' ? goal.unit === 'impressions' || goal.unit === 'completes' : sharesBreaks({ type });

/** How far the workspace may sell more than there is, in per cent, by its policy. */
async function findOverbooking(tx: Transaction, workspaceId: string) {
  const policies = await listPoliciesInForce(tx, workspaceId, ['delivery_bounds']);
  const policy = policies.find(({ scope, rules }) => scope.kind === 'workspace' && rules.overbook_pct !== undefined);
  return {
    percent: policy?.rules.overbook_pct ?? 0,
    policyVersions: policy ? [{ id: policy.id, version: policy.version }] : [],
  };
}

/** Of a line item that could serve nowhere, such as in a unit that is a draft, nothing is left. */
const nowhere = async (pool: Pool, workspaceId: string): Promise<CheckAvailabilityResponse> => ({
  ...{ capacity: 0n, available: 0n, nearest: 0n, contending: [], learning: false, shareTakenPct: 0 },
  bookingVersion: BigInt(await findBookingVersion(pool, workspaceId)),
});

/**
 * Asks outside of the transaction whether a line item can be had; inside it, the workspace's bookings are locked, and must be those that
 * were asked about. Facts of less than 14 days refuse nothing: the line item says so.
 * @param lineItem as it would be after the command
 */
export async function prepareAvailability(
  { pool, checkAvailability }: { readonly pool: Pool; readonly checkAvailability: CheckAvailability },
  {
    workspaceId,
    id,
    lineItem,
    now,
  }: { readonly workspaceId: string; readonly id: string; readonly lineItem: LineItem; readonly now: Date },
): Promise<RequireAvailability> {
  if (!isPromised(lineItem)) return unchecked;
  const line = await readPlanLine(pool, { id, workspace_id: workspaceId }, lineItem, now);
  const found = line ? await checkAvailability(workspaceId, line) : await nowhere(pool, workspaceId);
  return async ({ tx, approved, reviewedVersion, now: checkedAt }, overbooks) => {
    if ((await lockBookingVersion(tx, workspaceId)) !== Number(found.bookingVersion))
      throw new StalePreparation('Others are selling at this moment. Try again.');
    const { percent, policyVersions } = await findOverbooking(tx, workspaceId);
    const availability: Availability = {
      checked_at: checkedAt.toISOString(),
      capacity: Number(found.capacity),
      available: Number(found.available),
      ...(found.learning && { learning: true as const }),
    };
    const over = found.learning
      ? undefined
      : (sharesBreaks(lineItem) ? overShared : overSold)(lineItem, found, percent);
    if (!over) return { availability, policyVersions };
    const { shown, refusal } = over;
    if (!overbooks) throw refusal;
    if (reviewedVersion !== undefined) assertNoWorse(shown, approved);
    return { policyVersions, shown, availability: { ...availability, ...shown } };
  };
}
