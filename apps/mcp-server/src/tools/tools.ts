import type { Tool } from '../tool.ts';
import { getAccount } from './account-tools.ts';
import { listAdCampaigns } from './ad-tools.ts';
import {
  getEpisodeAnalytics,
  getPodcastAnalytics,
  getPodcastOverview,
  requestHistoryExport,
} from './analytics-tools.ts';
import { deleteContent } from './delete-tool.ts';
import { getEpisode, listEpisodes, listMediaClips } from './episode-tools.ts';
import { createEpisode, updateEpisode, updatePodcast } from './episode-write-tools.ts';
import { getPodcast, listPodcasts } from './podcast-tools.ts';
import { getOperation, getProduction } from './production-tools.ts';
import { controlProduction, createProduction } from './production-write-tools.ts';
import { publishEpisode } from './publish-tool.ts';
import { listReports } from './report-tools.ts';
import { searchContent } from './search-tool.ts';
import { completeUpload, createUpload } from './upload-tools.ts';

/** Every tool, in the order in which clients list them. */
export const tools: readonly Tool[] = [
  getAccount,
  listPodcasts,
  getPodcast,
  listEpisodes,
  getEpisode,
  searchContent,
  listMediaClips,
  getProduction,
  getOperation,
  getPodcastAnalytics,
  getEpisodeAnalytics,
  getPodcastOverview,
  listReports,
  requestHistoryExport,
  listAdCampaigns,
  createEpisode,
  updateEpisode,
  updatePodcast,
  createUpload,
  completeUpload,
  createProduction,
  controlProduction,
  publishEpisode,
  deleteContent,
];
