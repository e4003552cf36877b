import type { Answer } from '../../api/queries.ts';

type Episode = Pick<Answer<'/episodes/{id}'>, 'title' | 'description' | 'season' | 'number' | 'explicit'>;

/** Fields of an episode that a form may change. */
export interface EpisodeChanges {
  readonly title?: string;
  readonly description?: string;
  readonly season?: number;
  readonly number?: number;
  readonly explicit?: boolean;
}

const textOf = (form: FormData, name: string) => {
  const value = form.get(name);
  return typeof value === 'string' ? value.trim() : '';
};
const numberOf = (form: FormData, name: string) => {
  const text = textOf(form, name);
  return text === '' ? undefined : Number(text);
};

/** What differs from the episode: a field that nobody touched is not sent, so that it does not undo what somebody else did. */
export function formChanges(form: FormData, explicit: boolean, episode: Episode): EpisodeChanges {
  const title = textOf(form, 'title');
  const description = textOf(form, 'description');
  const season = numberOf(form, 'season');
  const number = numberOf(form, 'number');
  return {
    ...(title !== episode.title && { title }),
    ...(description !== (episode.description ?? '').trim() && { description }),
    ...(season !== undefined && season !== episode.season && { season }),
    ...(number !== undefined && number !== episode.number && { number }),
    ...(explicit !== (episode.explicit ?? false) && { explicit }),
  };
}
