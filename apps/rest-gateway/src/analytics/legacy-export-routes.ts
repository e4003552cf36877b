import {
  findLatestExport,
  historyExport,
  permitPodcastAnalytics,
  startHistoryExport,
} from '@longwave/podcast-analytics';
import { z } from 'zod';
import { accepting } from '../resource-routes.ts';
import { defineRoute, type AnswerShape } from '../route.ts';

const object = { type: 'podcasts', from: 'path', field: 'id' } as const;

const exportShape: AnswerShape = { name: 'LegacyExport', schema: historyExport };

/** POST /podcasts/{id}/analytics/legacy_export. */
export const startLegacyExport = (path: string) =>
  defineRoute({
    method: 'POST',
    path,
    operation: 'legacyExportStart',
    summary: 'Prepares the download history of a podcast as CSV, as far back as the plan includes; one at a time.',
    object,
    permit: permitPodcastAnalytics,
    body: z.strictObject({}),
    ...accepting,
    answer: exportShape,
    command: true,
    run: async (call, deps) => {
      const { body, operationId } = await startHistoryExport(call, deps);
      return { status: 202, body, headers: { Location: `${deps.baseUrl}/api/v1/operations/${operationId}` } };
    },
  });

/** GET of the same path: what became of the latest export. */
export const readLegacyExport = (path: string) =>
  defineRoute({
    method: 'GET',
    path,
    operation: 'legacyExportGet',
    summary: 'Reads the latest export of the download history of a podcast.',
    object,
    permit: permitPodcastAnalytics,
    answer: exportShape,
    refusals: [403],
    run: async (call, deps) => ({ status: 200, body: await findLatestExport(call, deps) }),
  });
