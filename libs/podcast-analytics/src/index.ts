export { achievements, achievementTypes, countAchievements } from './achievements.ts';
export {
  listMeasuredPodcasts,
  permitEpisodeAnalytics,
  permitPlan,
  permitPodcastAnalytics,
  permitPublished,
  permitSomeAnalytics,
  type MeasuredPodcast,
} from './analytics-gate.ts';
export {
  bucketDate,
  isEmpty,
  jointBasis,
  metaSchema,
  renderMeta,
  wireGranularity,
  wireRange,
} from './analytics-meta.ts';
export {
  cutToHistory,
  decideRange,
  episodeRangeQuery,
  lastDays,
  podcastEpisodesQuery,
  podcastRangeQuery,
  podcastSeriesQuery,
} from './analytics-range.ts';
export {
  countEpisodeByDimension,
  countPodcastByDimension,
  dimensionCounts,
  dimensionName,
} from './dimension-counts.ts';
export { countEpisodeSeries, countPodcastSeries, downloadSeries } from './download-series.ts';
export {
  countedStates,
  countPodcastEpisodes,
  episodeCount,
  episodeCounts,
  renderEpisodeCount,
} from './episode-counts.ts';
export { withShares } from './figures.ts';
export { findLatestExport, historyExport, startHistoryExport } from './history-export.ts';
export { archivedReports, listArchivedReports, listRecentReports, monthlyReports } from './monthly-reports.ts';
export { monthAt } from './months.ts';
export { overview, summarisePodcast } from './overview.ts';
export type { AnalyticsDeps } from './question.ts';
export { batchesOrNone, type PodcastBatch } from './podcast-batches.ts';
export { countPodcasts, shortestHistory } from './podcast-totals.ts';
