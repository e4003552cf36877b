import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { Answer } from '../../api/queries.ts';
import { t } from '../../messages/messages.ts';
import { Card, Cards, Pairs } from '../../parts/card.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Notes } from '../../parts/notes.tsx';
import { Time } from '../../parts/time.tsx';
import { languageName } from '../../parts/format.ts';
import { usePlace } from '../../shell/place.ts';
import { podcastQuery } from './podcast-queries.ts';

const route = getRouteApi('/podcasts/$podcastId/details');

function Details({ podcast }: { readonly podcast: Answer<'/podcasts/{id}'> }) {
  const { language } = usePlace();
  return (
    <Cards>
      <Card title={t('details.description')}>
        <Notes of={podcast.description} lang={podcast.language} />
      </Card>
      <Card title={t('details.facts')}>
        <Pairs
          of={[
            [t('details.author'), podcast.author],
            [t('details.language'), languageName(podcast.language, language)],
            [t('details.categories'), podcast.categories.join(', ')],
            [t('details.type'), t(`podcast_type.${podcast.type}`)],
            [t('details.explicit'), t(podcast.explicit ? 'yes' : 'no')],
            [t('details.locked'), t(podcast.locked ? 'yes' : 'no')],
            [t('details.website'), podcast.link],
            [t('details.feed'), podcast.feed_url],
            [t('details.copyright'), podcast.copyright],
            [t('details.created'), <Time at={podcast.created_at} form="moment" />],
            [t('details.updated'), <Time at={podcast.updated_at} form="moment" />],
          ]}
        />
      </Card>
    </Cards>
  );
}

/** What a podcast says about itself. */
export function PodcastDetailsPage() {
  const { podcastId } = route.useParams();
  const query = useQuery(podcastQuery(podcastId));
  return <Loaded query={query}>{(podcast) => <Details podcast={podcast} />}</Loaded>;
}
