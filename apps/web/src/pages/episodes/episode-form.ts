import type { paths } from '../../generated/openapi.d.ts';
import type { Answer } from '../../api/queries.ts';
import type { MessageKey } from '../../messages/messages.ts';
import { bytesOf, isWebAddress } from '../../parts/form/text-checks.ts';

type Episode = Answer<'/episodes/{id}'>;
type EpisodeChanges = NonNullable<paths['/episodes/{id}']['put']['requestBody']>['content']['application/json'];

/** Bytes that notes may have. */
export const notesBytesMax = 100_000;

/** What the form of an episode holds. `explicit` is empty while the podcast's own statement counts. */
export type EpisodeValues = {
  readonly title: string;
  readonly description: string;
  readonly season: string;
  readonly number: string;
  readonly type: string;
  readonly explicit: string;
  readonly author: string;
  readonly link: string;
  readonly artwork_url: string;
};
type Name = keyof EpisodeValues;

const textOf = (value: number | string | undefined) => (value === undefined ? '' : String(value));

/** An episode as the form shows it. */
export const episodeValues = (episode: Episode): EpisodeValues => ({
  title: episode.title,
  description: textOf(episode.description),
  season: textOf(episode.season),
  number: textOf(episode.number),
  type: episode.type,
  explicit: episode.explicit === undefined ? '' : episode.explicit ? 'yes' : 'no',
  author: textOf(episode.author),
  link: textOf(episode.link),
  artwork_url: textOf(episode.artwork_url),
});

/** What a tick says. Without one the podcast's own statement counts, where the episode has made none. */
export const explicitValue = (isTicked: boolean, base: Pick<EpisodeValues, 'explicit'>): EpisodeValues['explicit'] =>
  isTicked ? 'yes' : base.explicit === '' ? '' : 'no';

export const episodeFieldNames: Readonly<Record<Name, MessageKey>> = {
  title: 'details.title',
  description: 'details.notes',
  season: 'details.season',
  number: 'details.number',
  type: 'details.type',
  explicit: 'details.explicit',
  author: 'details.author',
  link: 'details.website',
  artwork_url: 'details.artwork',
};

/** The changed fields as REST v1 takes them. */
export function episodeChanges(values: EpisodeValues, changed: readonly Name[]): EpisodeChanges {
  const sent = (name: Name) => {
    if (name === 'season' || name === 'number') return Number(values[name]);
    return name === 'explicit' ? values.explicit === 'yes' : values[name];
  };
  return Object.fromEntries(changed.map((name) => [name, sent(name)]));
}

const isNumber = (text: string, max: number) => /^\d+$/.test(text) && Number(text) >= 1 && Number(text) <= max;

/** What is wrong with the form that needs no server to find. Notes alone can be emptied again. */
export function checkEpisode(values: EpisodeValues, base: EpisodeValues): Partial<Record<Name, MessageKey>> {
  const wrong: Partial<Record<Name, MessageKey>> = {};
  for (const name of Object.keys(values) as Name[])
    if (name !== 'description' && values[name] === '' && base[name] !== '') wrong[name] = 'form.cannot_empty';
  if (values.title.trim() === '') wrong.title = 'form.needed';
  if (values.season !== '' && !isNumber(values.season, 9999)) wrong.season = 'form.whole_number';
  if (values.number !== '' && !isNumber(values.number, 99_999)) wrong.number = 'form.whole_number';
  if (values.link !== '' && !isWebAddress(values.link)) wrong.link = 'form.web_address';
  if (bytesOf(values.description) > notesBytesMax) wrong.description = 'form.too_long';
  return wrong;
}
