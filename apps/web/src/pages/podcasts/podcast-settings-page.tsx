import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { withVersion, type Answer, type Versioned } from '../../api/queries.ts';
import { useSend } from '../../api/send.ts';
import { t } from '../../messages/messages.ts';
import { FormFrame } from '../../parts/form/form-frame.tsx';
import { useForm } from '../../parts/form/use-form.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { showToast } from '../../parts/toast.tsx';
import { EndCard } from './end-card.tsx';
import { PodcastFields } from './podcast-fields.tsx';
import { checkPodcast, podcastChanges, podcastFieldNames, podcastValues } from './podcast-form.ts';
import { podcastQuery } from './podcast-queries.ts';
import { PublishCard } from './publish-card.tsx';
import { isPreparing, SoundCard } from './sound-card.tsx';

/** How often a podcast whose intro or outro is being prepared is read again. */
const againMs = 2000;

const route = getRouteApi('/podcasts/$podcastId/settings');

function Settings({ read }: { readonly read: Versioned<Answer<'/podcasts/{id}'>> }) {
  const { data: podcast, version } = read;
  const queries = useQueryClient();
  const { queryKey } = podcastQuery(podcast.id);
  const { mutateAsync } = useSend('put', '/podcasts/{id}');
  const form = useForm({
    draftId: podcast.id,
    version: { etag: version, values: podcastValues(podcast) },
    check: checkPodcast,
    save: async (values, changed, seen) => {
      const body = podcastChanges(values, changed);
      const saved = await mutateAsync({ path: { id: podcast.id }, body, version: seen });
      const read = queries.getQueryData(queryKey);
      return { etag: read?.version, values: podcastValues(read?.data ?? saved) };
    },
    reload: () => void queries.invalidateQueries({ queryKey }),
  });
  return (
    <>
      {podcast.state !== 'published' && <PublishCard podcast={podcast} form={form} />}
      <FormFrame form={form} names={podcastFieldNames} saves="form.save" onSaved={() => showToast(t('form.saved'))}>
        <PodcastFields form={form} artwork={podcast.artwork} />
      </FormFrame>
      <SoundCard podcast={podcast} />
      <EndCard podcast={podcast} />
    </>
  );
}

/** What a podcast says about itself, to be changed; publishing it, and its end. */
export function PodcastSettingsPage() {
  const { podcastId } = route.useParams();
  const query = useQuery({
    ...podcastQuery(podcastId),
    select: withVersion<Answer<'/podcasts/{id}'>>,
    refetchInterval: ({ state: { data } }) => (data && isPreparing(data.data) ? againMs : false),
  });
  return (
    <Loaded query={query} lines={8}>
      {(read) => <Settings key={podcastId} read={read} />}
    </Loaded>
  );
}
