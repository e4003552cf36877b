import type { Answer, Versioned } from '../../api/queries.ts';
import { t } from '../../messages/messages.ts';
import { FormField, TextField } from '../../parts/form/fields.tsx';
import { FormFrame } from '../../parts/form/form-frame.tsx';
import { showToast } from '../../parts/toast.tsx';
import { episodeFieldNames, explicitValue } from './episode-form.ts';
import styles from './episode-form.module.css';
import { useEpisodeForm } from './use-episode-form.ts';

/** The fields of a draft that most episodes need. Only what was changed is sent. */
export function EpisodeForm({ read }: { readonly read: Versioned<Answer<'/episodes/{id}'>> }) {
  const form = useEpisodeForm(read);
  const { values, base } = form.state;
  return (
    <FormFrame inCard form={form} names={episodeFieldNames} saves="new.save" onSaved={() => showToast(t('form.saved'))}>
      <TextField form={form} name="title" label="details.title" required voice maxLength={255} />
      <FormField form={form} name="description" label="details.notes" hint={t('new.notes_hint')}>
        {(control) => (
          <textarea
            {...control}
            rows={8}
            value={values.description}
            onChange={(event) => form.set('description', event.target.value)}
          />
        )}
      </FormField>
      <div className={styles.pair}>
        <TextField form={form} name="season" label="details.season" inputMode="numeric" maxLength={4} />
        <TextField form={form} name="number" label="details.number" inputMode="numeric" maxLength={5} />
      </div>
      <label className={styles.check}>
        <input
          type="checkbox"
          checked={values.explicit === 'yes'}
          onChange={(event) => form.set('explicit', explicitValue(event.target.checked, base.values))}
        />
        {t('details.explicit')}
      </label>
    </FormFrame>
  );
}
