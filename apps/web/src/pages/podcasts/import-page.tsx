import { useMutation } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { rest } from '../../api/client.ts';
import { asProblem } from '../../api/problems.ts';
import { useSend } from '../../api/send.ts';
import { t } from '../../messages/messages.ts';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { isWebAddress } from '../../parts/form/text-checks.ts';
import { WebAddressField } from '../../parts/form/web-address-field.tsx';
import { Page } from '../../parts/page.tsx';
import { ProblemBanner } from '../../parts/problem.tsx';
import styles from './import-page.module.css';
import { ImportPreviewCard } from './import-preview-card.tsx';

/** Reads a feed and makes nothing. */
const usePreview = () =>
  useMutation({
    mutationFn: async (feedUrl: string) =>
      (await rest.POST('/podcasts/import/preview', { body: { feed_url: feedUrl } })).data,
    retry: false,
  });

/** Whether a feed could not be looked at though it may be whole: another was read, it took too long, or no answer came. The import takes its time. */
function isUnseen(error: unknown): boolean {
  const { status, slug } = asProblem(error);
  return status === 503 || status === 504 || slug === 'no_answer';
}

/**
 * Moves a show in from the feed of another host: the feed is looked at first, then moved in. It is a draft: nothing is public before somebody
 * publishes it, or asks for it here.
 */
export function ImportPage() {
  const navigate = useNavigate();
  const begin = useSend('post', '/podcasts/import');
  const look = usePreview();
  const [address, setAddress] = useState('');
  const [publish, setPublish] = useState(false);
  const feedUrl = address.trim();
  const preview = look.data?.feed_url === feedUrl ? look.data : undefined;
  const lookError = look.variables === feedUrl ? look.error : null;
  const isReady = preview ? !preview.locked : lookError !== null && isUnseen(lookError);
  const isBusy = !isWebAddress(feedUrl) || look.isPending || begin.isPending;
  const go = () =>
    begin.mutate(
      { body: { feed_url: feedUrl, publish } },
      {
        onSuccess: ({ id }) => void navigate({ to: '/podcasts/$podcastId/import', params: { podcastId: id } }),
      },
    );
  const error = begin.error ?? lookError;
  return (
    <Page
      title={t('import.title')}
      crumbs={[<Link to="/podcasts">{t('nav.podcasts')}</Link>]}
      meta={<span>{t('import.help')}</span>}
    >
      <Card title={t('import.from')}>
        <form
          className={styles.form}
          onSubmit={(event) => {
            event.preventDefault();
            if (isBusy) return;
            begin.reset();
            if (isReady) go();
            else look.mutate(feedUrl);
          }}
        >
          <WebAddressField
            label={t('import.address')}
            hint={t('import.address_hint')}
            value={address}
            onChange={setAddress}
          />
          <label className={styles.choice}>
            <input type="checkbox" checked={publish} onChange={(event) => setPublish(event.target.checked)} />
            <span>
              <b>{t('import.publish')}</b>
              <small>{t('import.publish_hint')}</small>
            </span>
          </label>
          {error !== null && (
            <ProblemBanner error={error} {...(error === lookError && { onRetry: () => look.mutate(feedUrl) })} />
          )}
          {error !== null && error === lookError && isReady && <p>{t('import.unseen')}</p>}
          <div>
            <Button kind="primary" type="submit" busy={isBusy}>
              {t(isReady ? 'import.begin' : 'import.look')}
            </Button>
          </div>
        </form>
      </Card>
      {preview && <ImportPreviewCard preview={preview} />}
      <Card title={t('import.kept')}>
        <p>{t('import.kept_help')}</p>
      </Card>
    </Page>
  );
}
