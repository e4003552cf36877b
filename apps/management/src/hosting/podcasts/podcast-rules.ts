import { maxDescriptionBytes, type productCatalog } from '@longwave/command-catalog';
import { accessOf, type Actor, type Rules } from '@longwave/command-pipeline';
import type { GuardedFetch } from '@longwave/guarded-fetch';
import { collaboratorRoles, type Role } from '@longwave/principal';
import { isProblem, Problem } from '@longwave/problems';
import { findFeedAddress } from '../imports/fetch-feed.ts';
import { refuseField } from '../../workspace/refuse-field.ts';
import { withSafeNotes } from '../show-notes.ts';
import { prepareArtworkChange, type ArtworkOptions } from './artwork-change.ts';
import {
  checkHlsInFeed,
  checkNewFeedUrl,
  createPodcast,
  feedUrlOf,
  missingErrors,
  missingForFeed,
  type MissingAttribute,
  withCollaborator,
  withoutCollaborator,
} from './podcast.ts';
import { requireFreeStream } from './hosted-podcast-table.ts';
import type { FindFaults } from './publish-gate.ts';
import { templatePartRules } from './template-part-rules.ts';

type PodcastCommand = Exclude<
  Extract<keyof Rules<typeof productCatalog>, `podcast.${string}`>,
  `podcast.${string}import${string}`
>;
type PodcastRules = Pick<Rules<typeof productCatalog>, PodcastCommand>;

const englishList = new Intl.ListFormat('en');
/** “a description, an author, and a category”. */
const listed = (missing: readonly MissingAttribute[]) => englishList.format(missing.map(({ words }) => words));

/**
 * Throws unless the actor has every role that the invitation grants, `viewer` aside; an owner grants any. Inviting an editor needs no
 * analytics role, although every collaborator sees the podcast's analytics.
 */
function checkInviter(actor: Actor, workspaceId: string, role: keyof typeof collaboratorRoles): void {
  if (actor.kind === 'service') return;
  const { roles: held } = accessOf(actor, workspaceId);
  if (held.includes('owner')) return;
  const granted: readonly Role[] = collaboratorRoles[role];
  if (granted.some((each) => each !== 'viewer' && !held.includes(each)))
    throw new Problem('permission_denied', 'You may grant only permissions that you have yourself.');
}

/** Rules of the podcast commands. */
export const podcastRules = (
  options: ArtworkOptions & { readonly findFaults: FindFaults; readonly fetch: GuardedFetch },
): PodcastRules => ({
  ...templatePartRules(options.findNamedUpload),

  'podcast.create': {
    prepare: async (prepared) => {
      const withArtwork = await prepareArtworkChange(options, prepared);
      return ({ changes, subjectId, current }) => {
        const created = createPodcast(withSafeNotes(changes, maxDescriptionBytes), subjectId, options.mediaUrl);
        checkHlsInFeed(created);
        return { attributes: withArtwork(created, current) };
      };
    },
  },

  'podcast.host_elsewhere': async ({ tx, workspaceId, changes, subjectId }) => {
    const { hosted_by: hostedBy, ...settings } = changes;
    await requireFreeStream(tx, workspaceId, hostedBy);
    return { attributes: { ...createPodcast(settings, subjectId, options.mediaUrl), hosted_by: hostedBy } };
  },

  'podcast.revise': {
    prepare: async (prepared) => {
      const withArtwork = await prepareArtworkChange(options, prepared);
      return ({ current, changes, state }) => {
        const attributes = withArtwork({ ...current, ...withSafeNotes(changes, maxDescriptionBytes) }, current);
        checkHlsInFeed(attributes, current);
        const missing = missingForFeed(attributes);
        // A podcast that is hosted elsewhere has no feed here.
        if (state === 'published' && missing.length > 0 && !current.hosted_by)
          throw new Problem('podcast_not_ready', `A published podcast needs ${listed(missing)}. Unpublish it first.`, {
            errors: missingErrors(missing),
          });
        return { attributes };
      };
    },
  },

  'podcast.publish': {
    prepare: async ({ workspaceId, subjectId, current }) => {
      // A podcast that is hosted elsewhere has no feed here: what it shows is its episodes.
      if (current!.hosted_by) return ({ current: locked }) => ({ attributes: locked });
      const faults = await options.findFaults(workspaceId, subjectId, current!);
      return ({ current: locked }) => {
        const missing = missingForFeed(locked);
        const errors = [...missingErrors(missing), ...faults];
        if (errors.length > 0)
          throw new Problem(
            'podcast_not_ready',
            [
              ...(missing.length > 0 ? [`Before publishing, “${locked.title}” still needs ${listed(missing)}.`] : []),
              ...faults.map(({ detail }) => detail),
            ].join(' '),
            { errors },
          );
        return { attributes: locked };
      };
    },
  },

  'podcast.invite_collaborator': ({ actor, workspaceId, current, changes }) => {
    checkInviter(actor, workspaceId, changes.role);
    return { attributes: withCollaborator(current, changes) };
  },

  'podcast.remove_collaborator': ({ current, changes }) => ({
    attributes: withoutCollaborator(current, changes),
  }),

  'podcast.redirect_feed': {
    prepare: async ({ current, changes: { new_feed_url: newFeedUrl } }) => {
      const ownUrl = feedUrlOf(options.mediaUrl, current!.subdomain);
      checkNewFeedUrl(newFeedUrl, ownUrl);
      checkNewFeedUrl(await findNewFeed(options.fetch, newFeedUrl), ownUrl);
      return ({ current: locked }) => ({ attributes: { ...locked, new_feed_url: newFeedUrl } });
    },
  },
});

/** The address of the feed to which a new address leads. Throws `validation_failed` when it leads to none. */
async function findNewFeed(fetch: GuardedFetch, newFeedUrl: string): Promise<string> {
  try {
    return await findFeedAddress(fetch, newFeedUrl);
  } catch (error) {
    if (!isProblem(error, 'feed_not_importable')) throw error;
    return refuseField(
      '/changes/new_feed_url',
      'not_a_feed',
      `Publish the feed at its new address first, then redirect to it. ${error.message}`,
    );
  }
}
