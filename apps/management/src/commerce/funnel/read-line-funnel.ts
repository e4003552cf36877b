import { verdictCodes } from '@longwave/ad-decision';
import { Problem } from '@longwave/problems';
import type { RpcClient } from '@longwave/rpc';
import type { AudienceServiceService, ReadReportRequest } from '@longwave/rpc/audience';
import type { LinePacing, PacingServiceService } from '@longwave/rpc/serving';
import { lineFunnelSchema, type LineFunnel } from './line-funnel.ts';
import { readLineFit, type LineFitDeps } from './read-line-fit.ts';
import { settingOf } from './setting-of.ts';

/** How long the services that know the numbers may take. */
const answerMs = 10_000;
/** Answers of a workspace that are made at a time: each asks five questions of the services. */
const maxAtOnce = 2;

export interface LineFunnelDeps
  extends LineFitDeps, Pick<RpcClient<typeof PacingServiceService>, 'readPacing' | 'readPacingHours' | 'readFunnel'> {
  readonly readReport: RpcClient<typeof AudienceServiceService>['readReport'];
}

/** Whole hours, half-open. */
export interface FunnelRange {
  readonly from: Date;
  readonly to: Date;
}

type Hour = LineFunnel['hours'][number];
type Numbers = Omit<Hour, 'hour' | 'pacing'>;

const metrics = {
  ads_decided: 'decided',
  ads_served: 'served',
  ads_delivered: 'delivered',
  ads_confirmed: 'confirmed',
} as const;
const countFields = ['requests', 'breaks', 'opportunities', ...Object.values(metrics)] as const;

const noNumbers: Numbers = {
  ...{ requests: 0, breaks: 0, opportunities: 0, verdicts: [] },
  ...{ decided: 0, served: 0, delivered: 0, confirmed: 0 },
};

const instant = (ms: bigint) => new Date(Number(ms)).toISOString();

/** What the ledger of ads has of a line item, hour by hour, and up to when facts are counted. */
async function readAds(
  readReport: LineFunnelDeps['readReport'],
  workspaceId: string,
  lineItemId: string,
  range: ReadReportRequest['range'],
  signal: AbortSignal,
) {
  const names = Object.keys(metrics) as (keyof typeof metrics)[];
  const messages = readReport(
    {
      ...{ workspaceId, range, dimensions: ['hour'], metrics: names, timeZone: '', advertisers: [], lineItemTypes: [] },
      filters: [{ dimension: 'line_item', keys: [lineItemId] }],
    },
    { deadlineMs: answerMs, signal },
  );
  const hours = new Map<string, Partial<Numbers>>();
  let completeUntilMs = 0n;
  for await (const { content } of messages) {
    if (content?.$case === 'basis') ({ completeUntilMs } = content.value);
    if (content?.$case !== 'rows') continue;
    for (const { keys, values } of content.value.rows)
      hours.set(
        new Date(keys[0]!).toISOString(),
        Object.fromEntries(names.map((name, at) => [metrics[name], Number(values[at])])),
      );
  }
  return { hours, completeUntilMs };
}

/** The numbers of all hours together; verdicts in the order of the checks. What waits for later by its plan alone is helped by no setting. */
function totalOf(hours: readonly Hour[]): LineFunnel['total'] {
  const short = new Set(hours.flatMap(({ pacing }) => pacing?.short_by ?? []));
  const isKeptForLater = short.size === 1 && short.has('plan');
  const verdicts = hours.flatMap((hour) => hour.verdicts);
  return {
    ...noNumbers,
    ...Object.fromEntries(countFields.map((field) => [field, hours.reduce((sum, hour) => sum + hour[field], 0)])),
    verdicts: verdictCodes.flatMap((code) => {
      const own = verdicts.filter((verdict) => verdict.code === code);
      const sum = (field: 'considered' | 'not_looked_at') => own.reduce((all, verdict) => all + verdict[field], 0);
      const sums = { considered: sum('considered'), not_looked_at: sum('not_looked_at') };
      return own.length > 0
        ? [{ code, ...sums, change: code === 'no_lease' && isKeptForLater ? null : settingOf(code) }]
        : [];
    }),
  };
}

const pacingOf = (line: LinePacing | undefined): LineFunnel['pacing'] =>
  line
    ? {
        ...{ goal: Number(line.goal), counting_basis: line.countingBasis, state: line.state, used: Number(line.used) },
        ...{ committed: line.committed, target: line.target, delivery_rate: line.deliveryRate, urgency: line.urgency },
        updated_at: instant(line.updatedAtMs),
      }
    : null;

/**
 * Reads why a line item was given no more: what its workspace offered and the verdicts on it from internal-serving, what became of its slots
 * from the ledger of ads, what it fits from the sample of the forecaster, with where it stood by the hour. The caller has checked that the line item is the workspace's.
 */
const readerOf =
  ({ readPacing, readPacingHours, readFunnel, readReport, ...forFit }: LineFunnelDeps) =>
  async (
    workspaceId: string,
    lineItemId: string,
    { from, to }: FunnelRange,
    signal: AbortSignal,
  ): Promise<LineFunnel> => {
    const range = { fromMs: BigInt(from.getTime()), toMs: BigInt(to.getTime()) };
    const within = { deadlineMs: answerMs, signal };
    const [{ lineItems }, paced, funnel, ads, fit] = await Promise.all([
      readPacing({ workspaceId, lineItemIds: [lineItemId] }, within),
      readPacingHours({ workspaceId, lineItemId, ...range }, within),
      readFunnel({ workspaceId, lineItemId, ...range }, within),
      readAds(readReport, workspaceId, lineItemId, range, signal),
      readLineFit(forFit, workspaceId, lineItemId, { ...range, signal }),
    ]);
    const hours = new Map<string, Hour>();
    const add = (hour: string, numbers: Partial<Hour>) =>
      hours.set(hour, { pacing: null, ...noNumbers, ...hours.get(hour), ...numbers, hour });
    for (const { hourMs, target, committed, granted, used, shortBy } of paced.hours)
      add(instant(hourMs), {
        pacing: {
          ...{ target, committed, granted: Number(granted), used: Number(used) },
          short_by: (shortBy || null) as NonNullable<Hour['pacing']>['short_by'],
        },
      });
    for (const { hourMs, requests, breaks, opportunities, verdicts } of funnel.hours)
      add(instant(hourMs), {
        ...{ requests: Number(requests), breaks: Number(breaks), opportunities: Number(opportunities) },
        verdicts: verdictCodes.flatMap((code) =>
          verdicts
            .filter((verdict) => verdict.code === code)
            .map(({ considered, notLookedAt }) => ({
              ...{ code, considered: Number(considered), not_looked_at: Number(notLookedAt) },
            })),
        ),
      });
    for (const [hour, numbers] of ads.hours) add(hour, numbers);
    const inOrder = [...hours.values()].toSorted((a, b) => a.hour.localeCompare(b.hour));
    return lineFunnelSchema.parse({
      line_item_id: lineItemId,
      ...{ from: from.toISOString(), to: to.toISOString() },
      opportunities_until: funnel.opportunitiesUntilMs > 0n ? instant(funnel.opportunitiesUntilMs) : null,
      data_watermark: instant(ads.completeUntilMs),
      pacing: pacingOf(lineItems[0]),
      fit,
      total: totalOf(inOrder),
      hours: inOrder,
    });
  };

/** Reads funnels, two of a workspace at a time, each as long as the caller waits. Throws `rate_limited` for a third one. */
export function createReadLineFunnel(deps: LineFunnelDeps) {
  const read = readerOf(deps);
  const reading = new Map<string, number>();
  return async (...[workspaceId, ...question]: Parameters<typeof read>): Promise<LineFunnel> => {
    const others = reading.get(workspaceId) ?? 0;
    if (others >= maxAtOnce)
      throw new Problem(
        'rate_limited',
        'Two of these are being answered for this workspace. Wait until one is there.',
        {
          retryAfterSeconds: 2,
        },
      );
    reading.set(workspaceId, others + 1);
    try {
      return await read(workspaceId, ...question);
    } finally {
      const left = reading.get(workspaceId)! - 1;
      if (left > 0) reading.set(workspaceId, left);
      else reading.delete(workspaceId);
    }
  };
}

export type ReadLineFunnel = ReturnType<typeof createReadLineFunnel>;
