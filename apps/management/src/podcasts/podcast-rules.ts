import type { productCatalog } from '@longwave/command-catalog';
import type { Actor, Rules } from '@longwave/command-pipeline';
import { collaboratorRoles, type Role } from '@longwave/principal';
import { Problem } from '@longwave/problems';
import { prepareArtworkChange, type ArtworkOptions } from './artwork-change.ts';
import {
  checkNewFeedUrl,
  createPodcast,
  feedUrlOf,
  missingErrors,
  missingForFeed,
  withCollaborator,
  withoutCollaborator,
} from './podcast.ts';
import type { FindFaults } from './publish-gate.ts';
import { templatePartRules } from './template-part-rules.ts';

type ImportCommand = 'podcast.import_feed' | 'podcast.complete_import' | 'podcast.fail_import';
type PodcastCommand = Exclude<Extract<keyof Rules<typeof productCatalog>, `podcast.${string}`>, ImportCommand>;
type PodcastRules = Pick<Rules<typeof productCatalog>, PodcastCommand>;

/** Throws unless whoever invites holds everything that the invitation gives, sight aside; an owner gives anything. */
function checkInviter(actor: Actor, role: keyof typeof collaboratorRoles): void {
  if (actor.kind === 'service') return;
  const held: readonly Role[] = actor.roles ?? actor.principal.roles;
  if (held.includes('owner')) return;
  const given: readonly Role[] = collaboratorRoles[role];
  if (given.some((each) => each !== 'viewer' && !held.includes(each)))
    throw new Problem('permission_denied', 'You may give only the rights that you have yourself.');
}

/** Rules of the podcast commands. */
export const podcastRules = (options: ArtworkOptions & { readonly findFaults: FindFaults }): PodcastRules => ({
  ...templatePartRules(options.findNamedUpload),

  'podcast.create': {
    prepare: async (prepared) => {
      const withArtwork = await prepareArtworkChange(options, prepared);
      return ({ changes, subjectId, current }) => ({
        attributes: withArtwork(createPodcast(changes, subjectId, options.mediaUrl), current),
      });
    },
  },

  'podcast.revise': {
    prepare: async (prepared) => {
      const withArtwork = await prepareArtworkChange(options, prepared);
      return ({ current, changes, state }) => {
        const attributes = withArtwork({ ...current, ...changes }, current);
        const missing = missingForFeed(attributes);
        if (state === 'published' && missing.length > 0)
          throw new Problem(
            'podcast_not_ready',
            `A published podcast needs ${missing.map(({ words }) => words).join(', ')}. Unpublish it first.`,
            { errors: missingErrors(missing) },
          );
        return { attributes };
      };
    },
  },

  'podcast.publish': {
    prepare: async ({ workspaceId, subjectId, current }) => {
      const faults = await options.findFaults(workspaceId, subjectId, current!);
      return ({ current: locked }) => {
        const missing = missingForFeed(locked);
        const errors = [...missingErrors(missing), ...faults];
        if (errors.length > 0)
          throw new Problem(
            'podcast_not_ready',
            [
              ...(missing.length > 0
                ? [`Give “${locked.title}” ${missing.map(({ words }) => words).join(', ')} before publishing it.`]
                : []),
              ...faults.map(({ detail }) => detail),
            ].join(' '),
            { errors },
          );
        return { attributes: locked };
      };
    },
  },

  'podcast.invite_collaborator': ({ actor, current, changes }) => {
    checkInviter(actor, changes.role);
    return { attributes: withCollaborator(current, changes) };
  },

  'podcast.remove_collaborator': ({ current, changes }) => ({
    attributes: withoutCollaborator(current, changes.email),
  }),

  'podcast.redirect_feed': ({ current, changes }) => {
    checkNewFeedUrl(changes.new_feed_url, feedUrlOf(options.mediaUrl, current.subdomain));
    return { attributes: { ...current, new_feed_url: changes.new_feed_url } };
  },
});
