import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useRef } from 'react';
import { accountQuery } from '../../api/account.ts';
import type { Answer } from '../../api/queries.ts';
import { useSend } from '../../api/send.ts';
import { t } from '../../messages/messages.ts';
import { FormFrame } from '../../parts/form/form-frame.tsx';
import { useForm } from '../../parts/form/use-form.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { showToast } from '../../parts/toast.tsx';
import { usePlace } from '../../shell/place.ts';
import { PodcastFields } from './podcast-fields.tsx';
import { checkPodcast, podcastChanges, podcastFieldNames, podcastValues } from './podcast-form.ts';

function NewPodcast({ account }: { readonly account: Answer<'/account'> }) {
  const { language } = usePlace();
  const create = useSend('post', '/podcasts');
  const navigate = useNavigate();
  const madeId = useRef('');
  const form = useForm({
    // Somebody else who signs in at this browser does not find it.
    draftId: `new podcast ${account.id}`,
    version: { etag: undefined, values: podcastValues(undefined, language) },
    check: checkPodcast,
    save: async (values, changed) => {
      const { title, language: tag } = values;
      const made = await create.mutateAsync({ body: { ...podcastChanges(values, changed), title, language: tag } });
      madeId.current = made.id;
      return { etag: undefined, values: podcastValues(made) };
    },
  });
  const goOn = () => {
    showToast(t('new_podcast.made'));
    void navigate({ to: '/podcasts/$podcastId/settings', params: { podcastId: madeId.current } });
  };
  return (
    <FormFrame form={form} names={podcastFieldNames} saves="new_podcast.make" onSaved={goOn}>
      <PodcastFields form={form} />
    </FormFrame>
  );
}

/** Makes a podcast. It is a draft: nothing is public yet. */
export function NewPodcastPage() {
  const query = useQuery(accountQuery);
  return (
    <Page
      title={t('new_podcast.title')}
      crumbs={[<Link to="/podcasts">{t('nav.podcasts')}</Link>]}
      meta={<span>{t('new_podcast.help')}</span>}
    >
      <Loaded query={query} lines={8}>
        {(account) => <NewPodcast account={account} />}
      </Loaded>
    </Page>
  );
}
