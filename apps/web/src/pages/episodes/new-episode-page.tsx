import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { list, withVersion, type Answer } from '../../api/queries.ts';
import { t } from '../../messages/messages.ts';
import { Card, Cards } from '../../parts/card.tsx';
import { Page } from '../../parts/page.tsx';
import { ProblemPage } from '../../parts/problem.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { podcastQuery } from '../podcasts/podcast-queries.ts';
import { DropArea, DropZone, Refused, useTaking } from './drop-zone.tsx';
import { EpisodeForm } from './episode-form.tsx';
import { episodeQuery } from './episode-queries.ts';
import { EncodingCard, ReadyCard } from './ready-card.tsx';
import { UploadRow, useUploads } from './upload-row.tsx';
import styles from './new-episode-page.module.css';

type Episode = Answer<'/episodes/{id}'>;
const route = getRouteApi('/podcasts/$podcastId/new');

/** The encodings of an episode, the newest first. */
const productionsQuery = (episodeId: string) =>
  list('/productions', { query: { episode_id: episodeId, sort: '-created_at' } });

/** A draft: its recording on the way, its details meanwhile, and what is missing to publish it. */
function Draft({ episodeId }: { readonly episodeId: string }) {
  const { data: read, error, refetch } = useQuery({ ...episodeQuery(episodeId), select: withVersion<Episode> });
  const { data: productions } = useQuery(productionsQuery(episodeId));
  const upload = useUploads().find(({ target }) => target === episodeId);
  if (!read) return error ? <ProblemPage error={error} onRetry={() => void refetch()} /> : <Skeleton lines={8} />;
  const episode = read.data;
  const production = productions?.items[0];
  return (
    <Cards>
      <Card title={t('details.facts')}>
        <EpisodeForm key={episode.id} read={read} />
      </Card>
      <div className={styles.side}>
        {upload && (
          <Card title={t('recording.title')}>
            <UploadRow upload={upload} />
          </Card>
        )}
        {!upload && production && <EncodingCard production={production} />}
        <ReadyCard episode={episode} production={production} upload={upload} />
      </div>
    </Cards>
  );
}

/** A new episode: first its file, then the rest while the file is on its way. */
export function NewEpisodePage() {
  const { podcastId } = route.useParams();
  const { episode: episodeId } = route.useSearch();
  const navigate = route.useNavigate();
  const { data: podcast, error, refetch } = useQuery(podcastQuery(podcastId));
  const waiting = useUploads().filter(({ group, phase }) => group === podcastId && phase === 'choose_again');
  const taking = useTaking(podcastId, ([first, ...others]) =>
    others.length === 0
      ? void navigate({ search: { episode: first! } })
      : void navigate({ to: '/podcasts/$podcastId', params: { podcastId } }),
  );
  if (!podcast) return error ? <ProblemPage error={error} onRetry={() => void refetch()} /> : <Skeleton lines={8} />;
  const take = (files: Parameters<typeof taking.take>[0]) => void taking.take(files);
  const crumbs = [
    <Link to="/podcasts">{t('nav.podcasts')}</Link>,
    <Link to="/podcasts/$podcastId" params={{ podcastId }}>
      {podcast.title}
    </Link>,
  ];
  return (
    <Page title={t('new.title')} crumbs={crumbs}>
      {episodeId !== undefined ? (
        <Draft key={episodeId} episodeId={episodeId} />
      ) : (
        <DropArea onFiles={take}>
          <DropZone onFiles={take} />
          <Refused refused={taking.refused} error={taking.error} />
          {waiting.map((upload) => (
            <UploadRow key={upload.id} upload={upload} />
          ))}
        </DropArea>
      )}
    </Page>
  );
}
