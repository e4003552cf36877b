import type { ResourceView } from '@longwave/events';
import type { RpcClient } from '@longwave/rpc';
import type { EnclosureServiceService } from '@longwave/rpc/delivery';
import type { Logger } from '@longwave/service-kit';

/** Addresses of the audio of episodes that the asker sees, by episode id. Episodes that listeners cannot play have none. */
export type FindEnclosures = (
  episodes: readonly ResourceView[],
  asker: { readonly deadline: Date },
) => Promise<ReadonlyMap<string, string>>;

/** An episode is shown without its address rather than late. */
const maxWaitMs = 1_000;

/** Calls public-delivery once per workspace. When that fails, it logs the failure and answers no addresses. */
export const createFindEnclosures =
  (client: Pick<RpcClient<typeof EnclosureServiceService>, 'findEnclosures'>, logger: Logger): FindEnclosures =>
  async (episodes, { deadline }) => {
    const published = episodes.filter(({ lifecycle_state: state }) => state === 'published');
    const options = { deadline, deadlineMs: maxWaitMs };
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
