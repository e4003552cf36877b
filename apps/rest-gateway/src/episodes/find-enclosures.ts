import type { ResourceView } from '@longwave/events';
import type { RpcClient } from '@longwave/rpc';
import type { EnclosureServiceService } from '@longwave/rpc/delivery';
import type { Logger } from '@longwave/service-kit';

/** Addresses of the audio of episodes that the asker sees, by episode id; without those that listeners are not served. */
export type FindEnclosures = (
  episodes: readonly ResourceView[],
  asker: { readonly deadline: Date },
) => Promise<ReadonlyMap<string, string>>;

/** An episode is shown without its address rather than late. */
const longestWaitMs = 1_000;

/** Asks public-delivery, once per workspace; when it cannot answer, the log says so and there are no addresses. */
export const createFindEnclosures =
  (client: Pick<RpcClient<typeof EnclosureServiceService>, 'findEnclosures'>, logger: Logger): FindEnclosures =>
  async (episodes, { deadline }) => {
    const published = episodes.filter(({ lifecycle_state: state }) => state === 'published');
    const options = { deadline, deadlineMs: longestWaitMs };
    try {
      const answers = await Promise.all(
        [...Map.groupBy(published, (episode) => episode.workspace_id)].map(([workspaceId, here]) =>
          client.findEnclosures({ workspaceId, episodeIds: here.map(({ id }) => id) }, options),
        ),
      );
      return new Map(answers.flatMap(({ enclosures }) => enclosures.map(({ episodeId, url }) => [episodeId, url])));
    } catch (error) {
      logger.warn({ err: error }, 'enclosures.unknown');
      return new Map();
    }
  };
