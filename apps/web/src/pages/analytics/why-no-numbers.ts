import type { Answer } from '../../api/queries.ts';
import type { MessageKey } from '../../messages/messages.ts';

type Podcast = Pick<Answer<'/podcasts/{id}'>, 'analytics' | 'state'>;
type EpisodeState = Answer<'/episodes/{id}'>['state'];

/** Why there are no numbers: in short, and what would be here or what can be done. */
export interface WhyNone {
  readonly title: MessageKey;
  readonly why: MessageKey;
}

const ofPodcast: Readonly<Record<Podcast['state'], WhyNone | undefined>> = {
  draft: { title: 'analytics.not_published', why: 'analytics.not_published_why' },
  published: undefined,
  unpublished: { title: 'analytics.podcast_offline', why: 'analytics.podcast_offline_why' },
  archived: { title: 'analytics.podcast_archived', why: 'analytics.podcast_archived_why' },
};

const notYet: WhyNone = { title: 'analytics.episode_not_published', why: 'analytics.not_published_why' };
const ofEpisode: Readonly<Record<EpisodeState, WhyNone | undefined>> = {
  draft: notYet,
  scheduled: notYet,
  published: undefined,
  unpublished: { title: 'analytics.episode_offline', why: 'analytics.episode_offline_why' },
  archived: { title: 'analytics.episode_archived', why: 'analytics.episode_archived_why' },
};

/** Why a podcast, or an episode of it, has no numbers to show; undefined where it has. The permission is said first, then the plan, then the state. */
export function whyNoNumbers({ analytics, state }: Podcast, episodeState?: EpisodeState): WhyNone | undefined {
  if (analytics === 'not_permitted') return { title: 'analytics.not_permitted', why: 'analytics.not_permitted_why' };
  if (analytics === 'not_in_plan') return { title: 'analytics.not_in_plan', why: 'analytics.not_in_plan_why' };
  return ofPodcast[state] ?? (episodeState && ofEpisode[episodeState]);
}
