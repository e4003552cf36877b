import { z } from 'zod';

const maxRows = 1_000;
const hourMs = 3_600_000n;
const maxMs = BigInt(Date.UTC(2200, 0));
const maxInt64 = 2n ** 63n - 1n;

const id = z.string().min(1).max(64);
const time = z
  .bigint()
  .min(0n)
  .max(maxMs)
  .transform((ms) => new Date(Number(ms)));
const hour = z
  .bigint()
  .min(0n)
  .max(maxMs)
  .refine((ms) => ms % hourMs === 0n, 'must be a whole hour')
  .transform((ms) => new Date(Number(ms)));
const place = z
  .int()
  .min(0)
  .max(2_147_483_647 - maxRows);
const count = z.bigint().min(0n).max(maxInt64).optional();

const report = z
  .strictObject({
    workspaceId: id,
    evidenceId: id,
    authorityId: id,
    sourceLabel: z.string().min(1).max(64),
    platform: z.string().min(1).max(64),
    kind: z.enum(['delivery', 'revenue', 'engagement']),
    granularity: z.enum(['hour', 'day', 'week', 'month', 'total']),
    revision: z.int().min(1),
    finality: z.enum(['provisional', 'final']),
    periodStartMs: time,
    periodEndMs: time,
    currency: z
      .string()
      .regex(/^[A-Z]{3}$/)
      .optional(),
  })
  .transform(({ periodStartMs: periodStart, periodEndMs: periodEnd, ...rest }) => ({ ...rest, periodStart, periodEnd }))
  .refine(({ periodStart, periodEnd }) => periodStart < periodEnd, 'the period must end after it starts');

const row = z
  .strictObject({
    sourceId: z.string().min(1).max(255),
    atMs: time,
    downloads: count,
    plays: count,
    listeners: count,
    completes: count,
    impressions: count,
    /** Below zero for what was paid back. */
    revenueMicros: z
      .bigint()
      .min(-maxInt64 - 1n)
      .max(maxInt64)
      .optional(),
  })
  .transform(({ atMs: at, ...rest }) => ({ ...rest, at }));

/** The report of a platform, without its rows. */
export type EvidenceReport = z.output<typeof report>;
/** Numbers of one episode in one grain of time; an absent one was not reported. */
export type EvidenceRow = z.output<typeof row>;

export const importRequest = z.strictObject({ report, firstRow: place, rows: z.array(row).max(maxRows) });

export const rowsRequest = z.strictObject({
  workspaceId: id,
  evidenceId: id,
  firstRow: place,
  limit: z.int().min(1).max(maxRows),
});

export const windowsRequest = z.strictObject({
  workspaceId: id,
  windows: z
    .array(
      z
        .strictObject({ episodeId: id, startMs: hour, endMs: hour })
        .refine(({ startMs, endMs }) => startMs < endMs, '“start” must be before “end”')
        .transform(({ episodeId, startMs: from, endMs: to }) => ({ episodeId, range: { from, to } })),
    )
    .max(1_000),
});
