import type { Attributes } from '@longwave/command-catalog';
import { StalePreparation, type PolicyVersion } from '@longwave/command-pipeline';
import type { Pool, Transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import type { CheckAvailabilityResponse } from '@longwave/rpc/forecast';
import type { LineItem } from '../../advertising/line-items/line-item.ts';
import { listPoliciesInForce } from '../../workspace/policies/policies-in-force.ts';
import { findBookingVersion, lockBookingVersion } from './booking-version-table.ts';
import type { CheckAvailability } from './check-availability.ts';
import { readPlanLine } from './read-booked-plan.ts';

type Availability = NonNullable<Attributes<'line_items'>['availability']>;

/** What a line item was told when it was sold, and the policies that decided. */
export interface FoundAvailability {
  readonly availability?: Availability;
  readonly policyVersions: readonly PolicyVersion[];
}

/** Decides inside the transaction, by what was found before it. */
export type RequireAvailability = (
  at: { readonly tx: Transaction; readonly workspaceId: string; readonly now: Date },
  overbooks: boolean,
) => Promise<FoundAvailability>;

const unchecked: RequireAvailability = async () => ({ policyVersions: [] });

/** Whether slots are promised to a line item: what competes by price, or fills what is left, is promised none. */
const isPromised = ({ type, goal }: Pick<LineItem, 'type' | 'goal'>) =>
  type === 'guaranteed' && (goal.unit === 'impressions' || goal.unit === 'completes');

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
  ...{ capacity: 0n, available: 0n, nearest: 0n, contending: [], learning: false },
  bookingVersion: BigInt(await findBookingVersion(pool, workspaceId)),
});

/** The refusal: how much there is, who has the rest, and what would fit. */
function notAvailable(quantity: number, allowed: number, found: CheckAvailabilityResponse): Problem {
  const [capacity, available] = [Number(found.capacity), Number(found.available)];
  const path = '/attributes/goal/quantity';
  const fits = allowed > 0 ? `A quantity of ${allowed} fits.` : 'None is left in this window.';
  const detail = `Of ${capacity} slots that fit, ${available} are left for ${quantity}. ${fits}`;
  return new Problem('inventory_not_available', detail, {
    errors: [
      { path, code: 'capacity', detail: String(capacity) },
      { path, code: 'available', detail: String(available) },
      { path, code: 'nearest', detail: String(allowed) },
      ...found.contending.map(({ lineItemId, loses, ofGoal }) => ({
        ...{ path, code: 'contending' },
        detail: `${lineItemId} would lose ${loses}${ofGoal > 0n ? ` of ${ofGoal}` : ''}.`,
      })),
    ],
    members: {
      ...{ capacity, available, nearest: allowed },
      contending: found.contending.map(({ lineItemId, loses, ofGoal, tier }) => ({
        ...{ line_item_id: lineItemId, loses: Number(loses), of_goal: Number(ofGoal), tier },
      })),
    },
  });
}

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
  const quantity = lineItem.goal.quantity!;
  return async ({ tx, now: checkedAt }, overbooks) => {
    if ((await lockBookingVersion(tx, workspaceId)) !== Number(found.bookingVersion))
      throw new StalePreparation('Others are selling at this moment. Try again.');
    const { percent, policyVersions } = await findOverbooking(tx, workspaceId);
    const allowed = Math.floor(Number(found.nearest) * (1 + percent / 100));
    const availability: Availability = {
      checked_at: checkedAt.toISOString(),
      capacity: Number(found.capacity),
      available: Number(found.available),
      ...(found.learning && { learning: true as const }),
    };
    if (found.learning || quantity <= allowed) return { availability, policyVersions };
    if (!overbooks) throw notAvailable(quantity, allowed, found);
    const contending = found.contending.map(({ lineItemId, loses, ofGoal }) => ({
      ...{ line_item_id: lineItemId, loses: Number(loses), of_goal: Number(ofGoal) },
    }));
    return { policyVersions, availability: { ...availability, overbooked_by: quantity - allowed, contending } };
  };
}
