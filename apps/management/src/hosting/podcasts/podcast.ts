import type { z } from 'zod';
import type { artwork, ChangesOf, podcasts } from '@longwave/command-catalog';
import { Problem, type FieldError } from '@longwave/problems';
import { v5 } from 'uuid';
import { refuseField } from '../../workspace/refuse-field.ts';

export type Podcast = z.output<typeof podcasts.attributes>;
export type Artwork = z.output<typeof artwork>;
export type TemplatePart = NonNullable<Podcast['intro']>;
export type Collaborator = NonNullable<Podcast['collaborators']>[number];
type CreateChanges = ChangesOf<'podcast.create'>;

/** Namespace of `podcast:guid` (Podcasting 2.0, tag guid). */
const guidNamespace = 'ead4c236-bf58-58c6-a2c6-a6b28d128cb6';

/** `podcast:guid` of a feed: UUIDv5 of its URL without scheme and trailing slashes (Podcasting 2.0, tag guid). */
export function podcastGuid(feedUrl: string): string {
  return v5(feedUrl.replace(/^[a-z]+:\/\//i, '').replace(/\/+$/, ''), guidNamespace);
}

/** The public address of a podcast's feed. */
export const feedUrlOf = (mediaUrl: string, subdomain: string): string => `${mediaUrl}/feeds/${subdomain}.xml`;

/** A DNS label made of a title, "show" when nothing is left of it. */
export function subdomainOf(title: string): string {
  const label = title
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 48)
    .replace(/^-+|-+$/g, '');
  return label || 'show';
}

/**
 * The attributes of a new podcast. A subdomain made from the title ends in the id's last characters, so that two podcasts of one title
 * differ.
 */
export function createPodcast(changes: CreateChanges, id: string, mediaUrl: string): Podcast {
  const subdomain = changes.subdomain ?? `${subdomainOf(changes.title)}-${id.slice(-6)}`;
  return {
    description: '',
    categories: [],
    explicit: false,
    type: 'episodic',
    locked: true,
    loudness_target_lufs: -16,
    ...changes,
    subdomain,
    podcast_guid: podcastGuid(feedUrlOf(mediaUrl, subdomain)),
  };
}

/**
 * Throws `validation_failed` when `hls_in_feed` is switched on while `hls_audio` and `hls_video` are off, for it would show nothing. Switching
 * both off later is allowed: the feed then names no HLS until one is on again.
 */
export function checkHlsInFeed(after: Podcast, before?: Podcast): void {
  if (!after.hls_in_feed || before?.hls_in_feed || after.hls_audio || after.hls_video) return;
  refuseField(
    '/changes/hls_in_feed',
    'needs_hls_audio',
    'The feed can name HLS only where episodes have it. Switch hls_audio or hls_video on too.',
  );
}

/** Attributes that directories require of a feed (PSP-1 and Apple's required channel elements), in words. */
const feedNeeds: readonly (readonly [keyof Podcast, string])[] = [
  ['title', 'a title'],
  ['description', 'a description'],
  ['language', 'a language'],
  ['author', 'an author'],
  ['artwork_url', 'artwork'],
  ['categories', 'a category'],
  ['explicit', 'a statement whether it is explicit'],
];

export interface MissingAttribute {
  readonly attribute: string;
  readonly words: string;
}

/**
 * The required attributes that a feed lacks. The owner of the feed (itunes:owner) is `owner_name` or, without one, the author.
 */
export function missingForFeed(podcast: Podcast): MissingAttribute[] {
  const lacks = (value: unknown) =>
    value === undefined || (typeof value === 'string' && !value.trim()) || (Array.isArray(value) && value.length === 0);
  return feedNeeds
    .filter(([attribute]) => lacks(podcast[attribute]))
    .map(([attribute, words]) => ({ attribute, words }));
}

/** One field error for each missing attribute. */
export const missingErrors = (missing: readonly MissingAttribute[]): FieldError[] =>
  missing.map(({ attribute, words }) => ({
    path: `/attributes/${attribute}`,
    code: 'missing',
    detail: `The podcast needs ${words}.`,
  }));

/**
 * The podcast with one more role of a collaborator; a role that it has already changes nothing. E-mail addresses are compared without
 * case. Throws `validation_failed` when there are 100 collaborators, each role counted.
 */
export function withCollaborator(podcast: Podcast, { email, role }: Collaborator): Podcast {
  const address = email.toLowerCase();
  const { collaborators = [] } = podcast;
  if (collaborators.some((known) => known.email === address && known.role === role)) return podcast;
  if (collaborators.length >= 100) {
    const detail = 'A podcast has at most 100 collaborators, each role counted.';
    throw new Problem('validation_failed', detail, { errors: [{ path: '/changes/email', code: 'too_many', detail }] });
  }
  return { ...podcast, collaborators: [...collaborators, { email: address, role }] };
}

/** The podcast without one role of a collaborator, or without any of them when none is named. */
export function withoutCollaborator(
  podcast: Podcast,
  { email, role }: { readonly email: string; readonly role?: Collaborator['role'] | undefined },
): Podcast {
  const { collaborators = [], ...kept } = podcast;
  const address = email.toLowerCase();
  const left = collaborators.filter((known) => known.email !== address || (role !== undefined && known.role !== role));
  return { ...kept, ...(left.length > 0 && { collaborators: left }) };
}

/** Throws `validation_failed` when a podcast would redirect to itself. */
export function checkNewFeedUrl(newFeedUrl: string, ownFeedUrl: string): void {
  // Addresses that differ only in scheme, case, a trailing slash or a query lead to the same feed of ours.
  const normal = (url: string) => {
    const { host, pathname } = new URL(url);
    return `${host}${pathname}`.toLowerCase().replace(/\/+$/, '');
  };
  if (normal(newFeedUrl) !== normal(ownFeedUrl)) return;
  const detail = 'A feed cannot redirect to itself.';
  throw new Problem('validation_failed', detail, {
    errors: [{ path: '/changes/new_feed_url', code: 'own_feed', detail }],
  });
}
