import type { ImportEvidenceRequest } from '@longwave/rpc/audience';

/** A report of another platform. */
export const reportOf = (evidenceId: string, workspaceId = 'ws_1') => ({
  ...{ workspaceId, evidenceId, authorityId: 'agr_1', sourceLabel: 'Acme dashboard', platform: 'acme' },
  ...{ kind: 'delivery', granularity: 'day', revision: 1, finality: 'provisional', currency: undefined },
  periodStartMs: BigInt(Date.parse('2025-11-01T00:00Z')),
  periodEndMs: BigInt(Date.parse('2025-12-01T00:00Z')),
});

export type WireRow = ImportEvidenceRequest['rows'][number];

/** A row in which the platform reports downloads alone. */
export const rowOf = (sourceId: string, downloads: bigint | undefined, changes: Partial<WireRow> = {}): WireRow => ({
  ...{ sourceId, atMs: BigInt(Date.parse('2025-11-02T00:00Z')), downloads },
  ...{ plays: undefined, listeners: undefined, completes: undefined, impressions: undefined, revenueMicros: undefined },
  ...changes,
});
