import { Check, Globe, Minus } from 'lucide-react';
import type { Answer } from '../../api/queries.ts';
import { useSend } from '../../api/send.ts';
import { t } from '../../messages/messages.ts';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import type { Form } from '../../parts/form/use-form.ts';
import { Icon } from '../../parts/icon.tsx';
import { ProblemBanner } from '../../parts/problem.tsx';
import { showToast } from '../../parts/toast.tsx';
import { missingToPublish, neededToPublish, podcastFieldNames, type PodcastValues } from './podcast-form.ts';
import styles from './podcast-settings-page.module.css';

/** What directories need, what of it is there, and the way to be public. A refusal stands at the fields that it is about. */
export function PublishCard({
  podcast,
  form,
}: {
  readonly podcast: Answer<'/podcasts/{id}'>;
  readonly form: Form<PodcastValues>;
}) {
  const { mutate, isPending, error } = useSend('post', '/podcasts/{id}/publish', () => showToast(t('publish.done')));
  const missing = missingToPublish(form.state.base.values);
  const isUnsaved = form.changed.length > 0;
  const publish = () => {
    if (missing.length > 0)
      return form.blame(Object.fromEntries(missing.map((name) => [name, 'form.needed_to_publish'])));
    mutate({ path: { id: podcast.id }, body: {} }, { onError: form.refuse });
  };
  return (
    <Card title={t('publish.title')} basis={t('publish.basis')}>
      <div className={styles.publish}>
        <ul className={styles.needs}>
          {neededToPublish.map((name) => {
            const isThere = !missing.includes(name);
            return (
              <li key={name} className={isThere ? styles.there : styles.missing}>
                <Icon of={isThere ? Check : Minus} size={15} />
                {t(podcastFieldNames[name])}
                <span className="hidden">{t(isThere ? 'publish.there' : 'publish.missing')}</span>
              </li>
            );
          })}
        </ul>
        {isUnsaved && <p>{t('publish.save_first')}</p>}
        <div>
          <Button icon={Globe} busy={isPending || isUnsaved} onClick={publish}>
            {t('publish.now')}
          </Button>
        </div>
        {error !== null && <ProblemBanner error={error} />}
      </div>
    </Card>
  );
}
