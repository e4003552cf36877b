import type { z } from 'zod';
import type { ChangesOf, podcasts, productCatalog } from '@longwave/command-catalog';
import { v5 } from 'uuid';

export type Podcast = z.output<typeof podcasts.attributes>;
type CreateChanges = ChangesOf<typeof productCatalog, 'podcast.create'>;

/** Namespace of `podcast:guid` (Podcasting 2.0, tag guid). */
const guidNamespace = 'ead4c236-bf58-58c6-a2c6-a6b28d128cb6';

/** `podcast:guid` of a feed: UUIDv5 of its URL without scheme and trailing slashes (Podcasting 2.0, tag guid). */
export function podcastGuid(feedUrl: string): string {
  return v5(feedUrl.replace(/^[a-z]+:\/\//i, '').replace(/\/+$/, ''), guidNamespace);
}

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
 * The attributes of a new podcast. A subdomain that was not asked for gets the id's last characters, so that two shows
 * of one title never meet.
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
    podcast_guid: podcastGuid(`${mediaUrl}/feeds/${subdomain}.xml`),
  };
}

/** What a feed still lacks before directories take it (PSP-1 and Apple's required channel elements), in words. */
export function missingForFeed(podcast: Podcast): string[] {
  const missing: string[] = [];
  if (!podcast.description.trim()) missing.push('a description');
  if (!podcast.author) missing.push('an author');
  if (!podcast.artwork_url) missing.push('artwork');
  if (podcast.categories.length === 0) missing.push('a category');
  return missing;
}
