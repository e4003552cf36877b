import { useState } from 'react';
import type { Answer } from '../../api/queries.ts';
import { useSend } from '../../api/send.ts';
import { t } from '../../messages/messages.ts';
import { Button } from '../../parts/button.tsx';
import { Card, Pairs } from '../../parts/card.tsx';
import { isWebAddress } from '../../parts/form/text-checks.ts';
import { WebAddressField } from '../../parts/form/web-address-field.tsx';
import { TypedDialog } from '../../parts/form/typed-dialog.tsx';
import { showToast } from '../../parts/toast.tsx';
import styles from './feed-page.module.css';

/** Sends apps to the feed of another host, for ever: apps remember it. */
export function RedirectCard({ podcast }: { readonly podcast: Answer<'/podcasts/{id}'> }) {
  const { new_feed_url: target } = podcast;
  const redirect = useSend('post', '/podcasts/{id}/redirect');
  const [address, setAddress] = useState('');
  const [isAsking, setAsking] = useState(false);
  const isAddress = isWebAddress(address.trim());
  const close = () => {
    setAsking(false);
    redirect.reset();
  };
  const done = () => {
    showToast(t('redirect.done'));
    setAddress('');
    close();
  };
  const go = () =>
    redirect.mutate({ path: { id: podcast.id }, body: { new_feed_url: address.trim() } }, { onSuccess: done });
  return (
    <Card title={t('redirect.title')}>
      <div className={styles.stack}>
        {target !== undefined && <Pairs of={[[t('redirect.leads_to'), target]]} />}
        <p>{t('redirect.help')}</p>
        <form
          className={styles.redirect}
          onSubmit={(event) => {
            event.preventDefault();
            if (isAddress) setAsking(true);
          }}
        >
          <WebAddressField label={t('redirect.address')} value={address} onChange={setAddress} />
          <Button kind="danger" type="submit" busy={!isAddress}>
            {t('redirect.go')}
          </Button>
        </form>
      </div>
      <TypedDialog
        isOpen={isAsking}
        onClose={close}
        onGo={go}
        act={redirect}
        title="redirect.sure"
        name={podcast.title}
        help={t('redirect.sure_help', { address: address.trim() })}
        goes="redirect.go"
      />
    </Card>
  );
}
