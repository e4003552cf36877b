import type { paths } from '../../generated/openapi.d.ts';
import type { Answer } from '../../api/queries.ts';
import type { MessageKey } from '../../messages/messages.ts';
import { bytesOf, isWebAddress } from '../../parts/form/text-checks.ts';

type Podcast = Answer<'/podcasts/{id}'>;
export type PodcastChanges = NonNullable<paths['/podcasts/{id}']['put']['requestBody']>['content']['application/json'];

/** Bytes that a description may have. */
export const descriptionBytesMax = 4000;

/** What the form of a podcast holds. */
export type PodcastValues = {
  readonly title: string;
  readonly description: string;
  readonly language: string;
  readonly categories: readonly string[];
  readonly author: string;
  readonly owner_name: string;
  readonly owner_email: string;
  readonly link: string;
  readonly copyright: string;
  readonly type: string;
  readonly explicit: boolean;
  readonly artwork_url: string;
};

/** A podcast as the form shows it; without one, an empty form. */
export const podcastValues = (podcast?: Podcast, language = 'en'): PodcastValues => ({
  title: podcast?.title ?? '',
  description: podcast?.description ?? '',
  language: podcast?.language ?? language,
  categories: podcast?.categories ?? [],
  author: podcast?.author ?? '',
  owner_name: podcast?.owner_name ?? '',
  owner_email: podcast?.owner_email ?? '',
  link: podcast?.link ?? '',
  copyright: podcast?.copyright ?? '',
  type: podcast?.type ?? 'episodic',
  explicit: podcast?.explicit ?? false,
  artwork_url: podcast?.artwork_url ?? '',
});

export const podcastFieldNames: Readonly<Record<keyof PodcastValues, MessageKey>> = {
  title: 'details.title',
  description: 'details.description',
  language: 'details.language',
  categories: 'details.categories',
  author: 'details.author',
  owner_name: 'details.owner_name',
  owner_email: 'details.owner_email',
  link: 'details.website',
  copyright: 'details.copyright',
  type: 'details.type',
  explicit: 'details.explicit',
  artwork_url: 'details.artwork',
};

/** The changed fields as REST v1 takes them. A field that stayed empty is not sent. */
export const podcastChanges = (values: PodcastValues, changed: readonly (keyof PodcastValues)[]): PodcastChanges =>
  Object.fromEntries(changed.map((name) => [name, values[name]]));

/** Fields that may be empty; any other that was set once can only be changed. */
const mayBeEmptied: readonly (keyof PodcastValues)[] = ['description', 'categories', 'explicit'];

/** What is wrong with the form that needs no server to find. */
export function checkPodcast(
  values: PodcastValues,
  base: PodcastValues,
): Partial<Record<keyof PodcastValues, MessageKey>> {
  const wrong: Partial<Record<keyof PodcastValues, MessageKey>> = {};
  for (const name of Object.keys(values) as (keyof PodcastValues)[])
    if (!mayBeEmptied.includes(name) && values[name] === '' && base[name] !== '') wrong[name] = 'form.cannot_empty';
  if (values.title.trim() === '') wrong.title = 'form.needed';
  if (!/^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$/.test(values.language)) wrong.language = 'form.language_tag';
  if (values.link !== '' && !isWebAddress(values.link)) wrong.link = 'form.web_address';
  if (values.owner_email !== '' && !/^\S+@\S+\.\S+$/.test(values.owner_email)) wrong.owner_email = 'form.mail_address';
  if (bytesOf(values.description) > descriptionBytesMax) wrong.description = 'form.too_long';
  return wrong;
}

/** What directories need before a podcast can be public, in the order of the form. The server checks the same and more. */
export const neededToPublish = ['title', 'description', 'language', 'categories', 'author', 'artwork_url'] as const;

/** What of it a podcast does not have. */
export const missingToPublish = (values: PodcastValues): readonly (typeof neededToPublish)[number][] =>
  neededToPublish.filter((name) => {
    const value = values[name];
    return typeof value === 'string' ? value.trim() === '' : value.length === 0;
  });
