import { useQueryClient } from '@tanstack/react-query';
import { useState, type SubmitEvent } from 'react';
import { asProblem } from '../../api/problems.ts';
import { versionOf, type Answer } from '../../api/queries.ts';
import { useSend } from '../../api/send.ts';
import { t } from '../../messages/messages.ts';
import { Button } from '../../parts/button.tsx';
import { Field } from '../../parts/field.tsx';
import { ProblemBanner } from '../../parts/problem.tsx';
import { showToast } from '../../parts/toast.tsx';
import { episodeQuery } from './episode-queries.ts';
import styles from './episode-form.module.css';
import { formChanges } from './form-changes.ts';

/** The fields of a draft that most episodes need. Only what was changed is sent. */
export function EpisodeForm({ episode }: { readonly episode: Answer<'/episodes/{id}'> }) {
  const queries = useQueryClient();
  const [explicit, setExplicit] = useState(episode.explicit ?? false);
  const save = useSend('put', '/episodes/{id}');
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const body = formChanges(new FormData(event.currentTarget), explicit, episode);
    const version = versionOf(queries, episodeQuery(episode.id));
    save.mutate({ path: { id: episode.id }, body, version }, { onSuccess: () => showToast(t('new.saved')) });
  };
  const errorOf = (name: string) =>
    save.error ? asProblem(save.error).fields.find(({ path }) => path.endsWith(`/${name}`))?.message : undefined;
  const number = (name: 'season' | 'number', max: number) => (
    <Field label={t(`details.${name}`)} error={errorOf(name)}>
      {(control) => (
        <input {...control} name={name} type="number" min={1} max={max} defaultValue={episode[name] ?? ''} />
      )}
    </Field>
  );
  return (
    <form className={styles.form} onSubmit={submit}>
      <Field label={t('new.name')} required error={errorOf('title')}>
        {(control) => <input {...control} name="title" maxLength={255} defaultValue={episode.title} />}
      </Field>
      <Field label={t('details.notes')} hint={t('new.notes_hint')} error={errorOf('description')}>
        {(control) => <textarea {...control} name="description" rows={8} defaultValue={episode.description ?? ''} />}
      </Field>
      <div className={styles.pair}>
        {number('season', 9999)}
        {number('number', 99_999)}
      </div>
      <label className={styles.check}>
        <input
          type="checkbox"
          checked={explicit}
          onChange={({ currentTarget }) => setExplicit(currentTarget.checked)}
        />
        {t('details.explicit')}
      </label>
      {save.error && <ProblemBanner error={save.error} />}
      <div>
        <Button type="submit" busy={save.isPending}>
          {t('new.save')}
        </Button>
      </div>
    </form>
  );
}
