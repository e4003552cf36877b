import { changePlan, planChangesSchema, servingPlanSchema, type ServingPlanDocument } from '@longwave/events';
import type { RpcClient } from '@longwave/rpc';
import type { BookingHead, BookingServiceService } from '@longwave/rpc/forecast';
import { createGates } from '@longwave/service-kit';
import { LRUCache } from 'lru-cache';

/** What is sold in a workspace: the plan that there would be if all of it served. */
export interface Booking {
  readonly head: BookingHead;
  readonly plan: ServingPlanDocument;
}

/** Plans that a process keeps; one of 10,000 line items has some 10 MB. */
const maxPlans = 20;

/**
 * Reads what is sold in a workspace; of a plan that has changed only what is new is sent, where management knows what it was. Who asks while it is read for somebody else waits for
 * that, and then asks what has changed since: a plan that comes late is read and parsed once for all who wait.
 */
export function createReadBooking(
  client: Pick<RpcClient<typeof BookingServiceService>, 'readBooking'>,
): (workspaceId: string, deadlineMs: number) => Promise<Booking> {
  const kept = new LRUCache<string, { readonly digest: string; readonly plan: ServingPlanDocument }>({ max: maxPlans });
  const oneAtATime = createGates(1);
  const read = async (workspaceId: string, deadlineMs: number): Promise<Booking> => {
    const known = kept.get(workspaceId);
    let head: BookingHead | undefined;
    let isWhole = true;
    const pieces: Uint8Array[] = [];
    const request = { workspaceId, knownDigest: known?.digest ?? '' };
    for await (const { content } of client.readBooking(request, { deadlineMs })) {
      if (content?.$case === 'head') head = content.value;
      if (content?.$case === 'plan' || content?.$case === 'changes') {
        isWhole = content.$case === 'plan';
        pieces.push(content.value);
      }
    }
    if (!head) throw new Error('management sent a booking without its head');
    if (known && known.digest === head.planDigest) return { head, plan: known.plan };
    const sent: unknown = JSON.parse(Buffer.concat(pieces).toString());
    const plan = isWhole ? servingPlanSchema.parse(sent) : changePlan(known!.plan, planChangesSchema.parse(sent));
    kept.set(workspaceId, { digest: head.planDigest, plan });
    return { head, plan };
  };
  return (workspaceId, deadlineMs) => oneAtATime(workspaceId)(() => read(workspaceId, deadlineMs));
}
