import { Problem } from '@longwave/problems';
import { z } from 'zod';
import { publicTool } from '../tool.ts';
import { episodeId, expectedVersion, writeArguments } from './fields.ts';
import { linksOf, objects, show } from './objects.ts';
import { confirmArguments, preview, previewCall, requireVersion } from './preview.ts';

const confirmedCommands = { now: 'episode.publish', unpublish: 'episode.unpublish' } as const;

export const publishEpisode = publicTool({
  name: 'publish_episode',
  title: 'Publish, schedule or unpublish an episode',
  description:
    'Publishes an episode now, at a time, or takes it out of the feed. "now" and "unpublish" first answer with a preview and a confirm_token: show the preview to the person, and call again with the token and the same arguments when they agree. "schedule" takes effect at once.',
  scopes: ['mcp:episodes.publish'],
  input: z.strictObject({
    episode_id: episodeId,
    expected_version: expectedVersion,
    mode: z.enum(['now', 'schedule', 'unpublish']),
    publish_at: z.iso.datetime({ offset: true }).optional().describe('With mode "schedule": when it is published.'),
    ...confirmArguments,
    ...writeArguments,
  }),
  output: z.discriminatedUnion('status', [
    preview,
    z.strictObject({ status: z.literal('done'), episode: objects.episode, operation_id: z.string() }),
  ]),
  run: async ({ asker, grant, args: { confirm_token: token, idempotency_key: key, ...args } }, deps) => {
    const { episode_id: subjectId, expected_version: version, mode, publish_at } = args;
    if ((mode === 'schedule') !== (publish_at !== undefined))
      throw new Problem('validation_failed', 'Send publish_at with mode "schedule", and with no other.');
    const call = { grant, tool: 'publish_episode', args };
    if (mode !== 'schedule' && token === undefined) {
      const { resource, access } = await deps.management.find(asker, 'episodes', subjectId);
      requireVersion(resource, version);
      const command = confirmedCommands[mode];
      const previewed = { kind: 'episode', resource, access, command, episode: resource } as const;
      return { output: await previewCall(previewed, call, asker, deps), links: linksOf([resource]) };
    }
    const idempotencyKey = token === undefined ? key : await deps.confirmations.redeem(token, call, key);
    const write = { subjectId, expectedVersion: version, idempotencyKey };
    const { resource, operationId } =
      mode === 'schedule'
        ? await deps.management.execute(asker, {
            type: 'episode.schedule',
            changes: { publish_at: publish_at! },
            ...write,
          })
        : await deps.management.execute(asker, { type: confirmedCommands[mode], changes: {}, ...write });
    return {
      output: {
        status: 'done' as const,
        episode: await show('episodes', resource, asker, deps),
        operation_id: operationId,
      },
      links: linksOf([resource]),
    };
  },
});
