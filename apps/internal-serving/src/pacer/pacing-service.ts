import { foundKinds } from '@longwave/pacing';
import type { Pool } from '@longwave/postgres';
import { parseOrProblem } from '@longwave/problems';
import { rpcService, type RpcService } from '@longwave/rpc';
import { PacingServiceService, type Alert, type AlertFigures as FiguresMessage } from '@longwave/rpc/serving';
import { z } from 'zod';
import { saveFindings } from './alert-finding-table.ts';
import type { AlertDetail, AlertFigures } from './alert-table.ts';
import { listAlerts, listAlertEvents, type StoredAlert } from './alert-list-table.ts';
import { readFunnel } from '../numbers/read-funnel.ts';
import { readHours, readLinePacing } from './line-pacing-table.ts';
import { removeOlderPlans, savePlans } from './pacing-plan-table.ts';

const id = z.string().min(1).max(64);
const instant = z.bigint().min(0n).max(8_640_000_000_000_000n).transform(Number);
const maxRangeMs = 100 * 86_400_000;

const readRequest = z.strictObject({ workspaceId: id, lineItemIds: z.array(id).max(1_000) });
const hoursRequest = z
  .strictObject({ workspaceId: id, lineItemId: id, fromMs: instant, toMs: instant })
  .refine(({ fromMs, toMs }) => fromMs <= toMs && toMs - fromMs <= maxRangeMs, {
    message: 'The range ends before it begins, or has more than 100 days.',
  });
const hourMs = 3_600_000;
const funnelRequest = hoursRequest.refine(({ fromMs, toMs }) => fromMs % hourMs === 0 && toMs % hourMs === 0, {
  message: 'Name whole hours.',
});

/** Hours of all plans of one request: 2.4 MB. */
const maxHours = 300_000;
const putRequest = z
  .strictObject({
    workspaceId: id,
    asOfMs: instant,
    plans: z
      .array(
        z.strictObject({
          lineItemId: id,
          startsAtMs: instant.refine((atMs) => atMs % hourMs === 0, { message: 'A plan begins with a whole hour.' }),
          // Not more than a year, as no window of a forecast is longer.
          hours: z.array(z.number().min(0)).max(366 * 24),
          learning: z.boolean(),
        }),
      )
      .max(500),
    isLast: z.boolean(),
  })
  .refine(({ plans }) => new Set(plans.map(({ lineItemId }) => lineItemId)).size === plans.length, {
    message: 'A line item has one plan.',
  })
  .refine(({ plans }) => plans.reduce((sum, { hours }) => sum + hours.length, 0) <= maxHours, {
    message: 'The plans of a request have at most 300,000 hours.',
  });

const any = z.union([z.literal(''), id]).transform((text) => text || undefined);
const position = z.bigint().min(0n);
const alertsRequest = z.strictObject({
  workspaceId: id,
  lineItemId: any,
  state: z.enum(['', 'open', 'closed']).transform((state) => state || undefined),
  kind: any,
  podcastId: any,
  limit: z.int().min(1).max(201),
  before: position.transform((before) => (before === 0n ? undefined : before)),
});
const alertEventsRequest = z.strictObject({ after: position });
const maxEvents = 100;

const figuresMessage = ({ goal, shortBy = '', detail, ...figures }: AlertFigures): FiguresMessage => ({
  ...figures,
  ...{ goal: BigInt(goal), shortBy, detailJson: detail ? JSON.stringify(detail) : '' },
});

/** One name of `AlertDetail`; management checks the rest, as readers see it. */
const detailJson = z
  .string()
  .max(4_000)
  .transform((text, context): AlertDetail => {
    try {
      return detailSchema.parse(JSON.parse(text));
    } catch {
      context.addIssue({ code: 'custom', message: 'The detail is not JSON of one known name.' });
      return z.NEVER;
    }
  });
const detailSchema = z.strictObject({
  forecast: z.record(z.string(), z.unknown()).optional(),
  discrepancy: z.record(z.string(), z.unknown()).optional(),
  reservation: z.record(z.string(), z.unknown()).optional(),
  day: z.record(z.string(), z.unknown()).optional(),
});
const findingsRequest = z
  .strictObject({
    workspaceId: id,
    kind: z.enum(foundKinds),
    asOfMs: instant,
    findings: z.array(z.strictObject({ lineItemId: id, units: z.number().min(0), detailJson })).max(10_000),
  })
  .refine(({ findings }) => new Set(findings.map(({ lineItemId }) => lineItemId)).size === findings.length, {
    message: 'A line item has one finding of a kind.',
  });

const alertMessage = ({ raised, cleared, ...alert }: StoredAlert): Alert => ({
  ...alert,
  ...{ raisedAtMs: BigInt(raised.atMs), raised: figuresMessage(raised.figures) },
  clearedAtMs: cleared && BigInt(cleared.atMs),
  cleared: cleared && figuresMessage(cleared.figures),
  clearedBy: cleared?.cause ?? '',
});

/** What the pacer knows of line items, and the plans that it is given; each call is about one workspace alone. */
export const pacingService = (pool: Pool): RpcService =>
  rpcService(
    PacingServiceService,
    {
      readPacing: ['management', 'operator'],
      readPacingHours: ['management', 'operator'],
      putPlans: ['forecaster', 'operator'],
      putFindings: ['forecaster', 'management', 'operator'],
      readFunnel: ['management', 'operator'],
      listAlerts: ['management', 'operator'],
      readAlertEvents: ['management', 'operator'],
    },
    {
      putPlans: async (request) => {
        const { workspaceId, asOfMs, plans, isLast } = parseOrProblem(putRequest, request);
        const made = plans.map(({ learning, ...plan }) => ({ ...plan, isLearning: learning }));
        const changed = await savePlans(pool, workspaceId, asOfMs, made);
        const removed = isLast ? await removeOlderPlans(pool, workspaceId, asOfMs) : 0;
        return { changed, removed };
      },
      putFindings: async (request) => {
        const { workspaceId, kind, asOfMs, findings } = parseOrProblem(findingsRequest, request);
        const found = findings.map(({ detailJson: detail, ...finding }) => ({ ...finding, detail }));
        await saveFindings(pool, workspaceId, kind, { asOfMs, findings: found });
        return {};
      },
      readPacing: async (request) => {
        const { workspaceId, lineItemIds } = parseOrProblem(readRequest, request);
        const lines = await readLinePacing(pool, workspaceId, lineItemIds);
        return {
          lineItems: lines.map((line) => ({
            lineItemId: line.lineItemId,
            goal: BigInt(line.goal),
            countingBasis: line.basis,
            windowStartMs: BigInt(line.windowStartMs),
            windowEndMs: BigInt(line.windowEndMs),
            used: BigInt(line.used),
            committed: line.committed,
            committedMicros: line.committedMicros,
            target: line.target,
            deliveryRate: line.deliveryRate,
            urgency: line.urgency,
            state: line.state,
            planDigest: line.planDigest ?? '',
            updatedAtMs: BigInt(Math.floor(line.updatedAtMs)),
          })),
        };
      },
      readPacingHours: async (request) => {
        const { workspaceId, lineItemId, fromMs, toMs } = parseOrProblem(hoursRequest, request);
        const hours = await readHours(pool, workspaceId, lineItemId, { fromMs, toMs });
        return {
          hours: hours.map((hour) => ({
            hourMs: BigInt(hour.hourMs),
            target: hour.target,
            committed: hour.committed,
            granted: BigInt(hour.granted),
            used: BigInt(hour.used),
            shortBy: hour.shortBy ?? '',
          })),
        };
      },
      readFunnel: async (request) => {
        const { workspaceId, lineItemId, fromMs, toMs } = parseOrProblem(funnelRequest, request);
        const range = { from: new Date(fromMs), to: new Date(toMs) };
        const { hours, countedUntil } = await readFunnel(pool, workspaceId, lineItemId, range);
        return {
          hours: hours.map((hour) => ({
            hourMs: BigInt(hour.hourMs),
            requests: BigInt(hour.requests),
            breaks: BigInt(hour.breaks),
            opportunities: BigInt(hour.opportunities),
            verdicts: hour.verdicts.map(({ code, considered, notLookedAt }) => ({
              ...{ code, considered: BigInt(considered), notLookedAt: BigInt(notLookedAt) },
            })),
          })),
          opportunitiesUntilMs: BigInt(countedUntil?.getTime() ?? 0),
        };
      },
      listAlerts: async (request) => {
        const alerts = await listAlerts(pool, parseOrProblem(alertsRequest, request));
        return { alerts: alerts.map(({ position: at, ...alert }) => ({ alert: alertMessage(alert), position: at })) };
      },
      readAlertEvents: async (request) => {
        const { after } = parseOrProblem(alertEventsRequest, request);
        const events = await listAlertEvents(pool, after, maxEvents);
        return {
          events: events.map(({ position: at, eventId, ...alert }) => ({
            ...{ eventId, position: at },
            alert: alertMessage(alert),
          })),
        };
      },
    },
  );
