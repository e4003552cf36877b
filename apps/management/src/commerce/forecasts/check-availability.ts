import type { PlanLineItem } from '@longwave/events';
import type { RpcClient } from '@longwave/rpc';
import type { CheckAvailabilityResponse, ForecastServiceService } from '@longwave/rpc/forecast';

/** Asks whether a line item can be had beside everything that is sold. Throws `temporarily_unavailable` when nobody answers in time. */
export type CheckAvailability = (workspaceId: string, line: PlanLineItem) => Promise<CheckAvailabilityResponse>;

/** How long a seller waits for it at most: an answer takes two seconds, longer where the forecaster has to read the past first. */
const deadlineMs = 10_000;

/** Asks the forecaster. */
export const createCheckAvailability =
  (checkAvailability: RpcClient<typeof ForecastServiceService>['checkAvailability']): CheckAvailability =>
  (workspaceId, line) =>
    checkAvailability({ workspaceId, lineItem: Buffer.from(JSON.stringify(line)) }, { deadlineMs });
