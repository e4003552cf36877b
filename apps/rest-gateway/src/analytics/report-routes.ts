import {
  archivedReports,
  listArchivedReports,
  listRecentReports,
  monthlyReports,
  permitSomeAnalytics,
} from '@longwave/podcast-analytics';
import { defineRoute } from '../route.ts';

/** GET /analytics/reports: the latest three finished months of every podcast that the caller may measure. */
export const analyticsReports = (path: string) =>
  defineRoute({
    method: 'GET',
    path,
    operation: 'analyticsReports',
    summary: 'Monthly reports: one for each podcast and each of the latest three finished months.',
    permit: permitSomeAnalytics,
    answer: { name: 'AnalyticsReports', schema: monthlyReports },
    refusals: [403],
    run: async ({ caller }, deps) => ({ status: 200, body: await listRecentReports(caller, deps) }),
  });

/** GET /analytics/reports_archives: every older month, as far as the plan's history reaches. */
export const analyticsReportsArchives = (path: string) =>
  defineRoute({
    method: 'GET',
    path,
    operation: 'analyticsReportsArchives',
    summary: 'Monthly reports of all older months within the plan’s history.',
    permit: permitSomeAnalytics,
    answer: { name: 'AnalyticsReportsArchives', schema: archivedReports },
    refusals: [403],
    run: async ({ caller }, deps) => ({ status: 200, body: await listArchivedReports(caller, deps) }),
  });
