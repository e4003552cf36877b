import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useSend } from '../../api/send.ts';
import { t } from '../../messages/messages.ts';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { isWebAddress } from '../../parts/form/text-checks.ts';
import { WebAddressField } from '../../parts/form/web-address-field.tsx';
import { Page } from '../../parts/page.tsx';
import { ProblemBanner } from '../../parts/problem.tsx';
import styles from './import-page.module.css';

/** Moves a show in from the feed of another host. It is a draft: nothing is public before somebody publishes it, or asks for it here. */
export function ImportPage() {
  const navigate = useNavigate();
  const begin = useSend('post', '/podcasts/import');
  const [address, setAddress] = useState('');
  const [publish, setPublish] = useState(false);
  const isAddress = isWebAddress(address.trim());
  const go = () =>
    begin.mutate(
      { body: { feed_url: address.trim(), publish } },
      {
        onSuccess: ({ id }) => void navigate({ to: '/podcasts/$podcastId/import', params: { podcastId: id } }),
      },
    );
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
            if (isAddress && !begin.isPending) go();
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
          {begin.error !== null && <ProblemBanner error={begin.error} />}
          <div>
            <Button kind="primary" type="submit" busy={!isAddress || begin.isPending}>
              {t('import.begin')}
            </Button>
          </div>
        </form>
      </Card>
      <Card title={t('import.kept')}>
        <p>{t('import.kept_help')}</p>
      </Card>
    </Page>
  );
}
