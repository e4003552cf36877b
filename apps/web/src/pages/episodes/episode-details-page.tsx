import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { withVersion, type Answer, type Versioned } from '../../api/queries.ts';
import { t } from '../../messages/messages.ts';
import { Card } from '../../parts/card.tsx';
import { ArtworkField } from '../../parts/form/artwork-field.tsx';
import { FieldGrid, Wide } from '../../parts/form/field-grid.tsx';
import { SelectField, TextField } from '../../parts/form/fields.tsx';
import { FormFrame } from '../../parts/form/form-frame.tsx';
import { NotesField } from '../../parts/form/notes-field.tsx';
import type { Form } from '../../parts/form/use-form.ts';
import { Page } from '../../parts/page.tsx';
import { ProblemPage } from '../../parts/problem.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { showToast } from '../../parts/toast.tsx';
import { podcastQuery } from '../podcasts/podcast-queries.ts';
import { episodeFieldNames, notesBytesMax, type EpisodeValues } from './episode-form.ts';
import { episodeQuery } from './episode-queries.ts';
import { PublicationCard } from './publication-card.tsx';
import { useEpisodeForm } from './use-episode-form.ts';

type Episode = Answer<'/episodes/{id}'>;
const route = getRouteApi('/episodes/$episodeId/details');

function Words({
  form,
  episode,
  language,
}: {
  readonly form: Form<EpisodeValues>;
  readonly episode: Episode;
  readonly language: string | undefined;
}) {
  return (
    <Card title={t('settings.what')} basis={t('settings.what_basis')}>
      <FieldGrid>
        <Wide>
          <TextField form={form} name="title" label="details.title" required voice maxLength={255} />
        </Wide>
        <NotesField form={form} name="description" label="details.notes" bytesMax={notesBytesMax} lang={language} />
        <Wide>
          <ArtworkField
            form={form}
            name="artwork_url"
            label="details.artwork"
            current={episode.artwork}
            title={episode.title}
          />
        </Wide>
      </FieldGrid>
    </Card>
  );
}

const types = ['full', 'trailer', 'bonus'] as const;

const Facts = ({ form }: { readonly form: Form<EpisodeValues> }) => (
  <Card title={t('details.facts')}>
    <FieldGrid>
      <TextField form={form} name="season" label="details.season" inputMode="numeric" maxLength={4} />
      <TextField form={form} name="number" label="details.number" inputMode="numeric" maxLength={5} />
      <SelectField
        form={form}
        name="type"
        label="details.type"
        choices={types.map((value) => ({ value, name: t(`episode_type.${value}`) }))}
      />
      <SelectField
        form={form}
        name="explicit"
        label="details.explicit"
        choices={[
          { value: '', name: t('details.as_podcast') },
          { value: 'yes', name: t('yes') },
          { value: 'no', name: t('no') },
        ]}
      />
      <TextField form={form} name="author" label="details.author" maxLength={255} />
      <TextField form={form} name="link" label="details.website" type="url" inputMode="url" maxLength={2000} />
    </FieldGrid>
  </Card>
);

function Details({ read }: { readonly read: Versioned<Episode> }) {
  const episode = read.data;
  const { data: podcast } = useQuery(podcastQuery(episode.podcast_id));
  const form = useEpisodeForm(read);
  const podcastLink = (
    <Link to="/podcasts/$podcastId" params={{ podcastId: episode.podcast_id }}>
      {podcast?.title ?? t('podcasts.podcast')}
    </Link>
  );
  const episodeLink = (
    <Link to="/episodes/$episodeId" params={{ episodeId: episode.id }}>
      {episode.title}
    </Link>
  );
  return (
    <Page
      title={t('episode.details')}
      crumbs={[<Link to="/podcasts">{t('nav.podcasts')}</Link>, podcastLink, episodeLink]}
    >
      <FormFrame form={form} names={episodeFieldNames} saves="form.save" onSaved={() => showToast(t('form.saved'))}>
        <Words form={form} episode={episode} language={podcast?.language} />
        <Facts form={form} />
      </FormFrame>
      <PublicationCard episode={episode} isUnsaved={form.changed.length > 0} />
    </Page>
  );
}

/** What an episode says about itself, to be changed, and whether listeners get it. */
export function EpisodeDetailsPage() {
  const { episodeId } = route.useParams();
  const { data, error, refetch } = useQuery({ ...episodeQuery(episodeId), select: withVersion<Episode> });
  if (data) return <Details key={episodeId} read={data} />;
  return error ? <ProblemPage error={error} onRetry={() => void refetch()} /> : <Skeleton lines={8} />;
}
