import { AnomalyDecision as WireDecision, AnomalyKind, type Anomaly } from '@longwave/rpc/audience';
import { z } from 'zod';
import type { AnomalyDecision, VelocityDay, VelocityKey } from './velocity-table.ts';

const kinds = {
  [AnomalyKind.LISTENER]: 'listener',
  [AnomalyKind.ADDRESS]: 'address',
} as const satisfies Partial<Record<AnomalyKind, VelocityKey['kind']>>;

const decisions = {
  [WireDecision.RELEASE]: 'release',
  [WireDecision.REJECT]: 'reject',
} as const satisfies Partial<Record<WireDecision, AnomalyDecision>>;

export const decideRequest = z.strictObject({
  kind: z
    .enum(Object.keys(kinds) as (keyof typeof kinds)[], 'Name a kind: listener or address.')
    .transform((wire) => kinds[wire]),
  key: z.string().min(1).max(200),
  day: z.iso.date(),
  decision: z
    .enum(Object.keys(decisions) as (keyof typeof decisions)[], 'Decide: release or reject.')
    .transform((wire) => decisions[wire]),
  decidedBy: z.string().trim().min(1).max(200),
  reason: z.string().trim().min(1).max(2000),
});

export const listRequest = z.strictObject({ undecided: z.boolean() });

/** A key's day for the operator. */
export const wireAnomaly = ({ kind, key, day, downloads, decision }: VelocityDay): Anomaly => ({
  kind: kind === 'listener' ? AnomalyKind.LISTENER : AnomalyKind.ADDRESS,
  key,
  day,
  downloads: BigInt(downloads),
  decision:
    decision === null
      ? WireDecision.UNSPECIFIED
      : { release: WireDecision.RELEASE, reject: WireDecision.REJECT }[decision],
});
