import type { ResourceType } from '@longwave/command-catalog';
import { trackerTallySchema } from '../../advertising/trackers/tracker-tally-table.ts';
import { json, type ManagementRoute } from '../management-route.ts';

/** A route with what became of the calls of one resource, for whoever sees the resource. */
function callsOf(type: ResourceType, path: string, summary: string): ManagementRoute {
  return {
    operation: `tracker_call.${type === 'creatives' ? 'count_of_creative' : 'count'}`,
    method: 'GET',
    path: `/workspaces/{workspace_id}/${path}`,
    summary,
    note: 'Numbers since the beginning. A call that has ended is not made again.',
    scope: 'management:read',
    answers: { 200: { description: 'The numbers.', body: { name: 'TrackerTally', schema: trackerTallySchema } } },
    refusals: ['not_found'],
    answer: async ({ actor, workspaceId, parameter }, { readAccess, readTally }) => {
      const id = parameter('id');
      await readAccess.getVisible(actor, workspaceId, type, id);
      return json(await readTally(id));
    },
  };
}

/** What became of the calls of trackers of others (docs/tracking.md). */
export const trackerRoutes: readonly ManagementRoute[] = [
  callsOf(
    'tracking_endpoints',
    'tracking-endpoints/{id}/calls',
    'How often a tracking endpoint was called, and why it last failed.',
  ),
  callsOf(
    'creatives',
    'creatives/{id}/tracker-calls',
    'How often the trackers of a demand source that stand on a creative were called, and why one last failed.',
  ),
];
