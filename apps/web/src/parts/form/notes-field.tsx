import { t } from '../../messages/messages.ts';
import { numberText } from '../format.ts';
import { Notes } from '../notes.tsx';
import { usePlace } from '../../shell/place.ts';
import type { FormValues } from './form-state.ts';
import { FormField, type InForm } from './fields.tsx';
import { bytesOf } from './text-checks.ts';
import styles from './form.module.css';

/** Notes as HTML, with how listeners read them beside it. */
export function NotesField<V extends FormValues>({
  bytesMax,
  lang,
  ...field
}: Omit<InForm<V>, 'hint'> & {
  /** The most bytes that the server takes. */
  readonly bytesMax: number;
  /** The language of the show. */
  readonly lang: string | undefined;
}) {
  const { language } = usePlace();
  const { form, name } = field;
  const text = String(form.state.values[name] ?? '');
  const shown = { bytes: numberText(bytesOf(text), language), max: numberText(bytesMax, language) };
  return (
    <div className={styles.notes}>
      <FormField {...field} hint={t('form.notes_hint', shown)}>
        {(control) => (
          <textarea
            {...control}
            className={`${control.className} ${styles.markup}`}
            spellCheck
            lang={lang}
            value={text}
            onChange={(event) => form.set(name, event.target.value)}
          />
        )}
      </FormField>
      <div className={styles.preview}>
        <div className={styles.caption}>{t('form.notes_preview')}</div>
        {text.trim() === '' ? <p className={styles.none}>{t('form.no_text')}</p> : <Notes of={text} lang={lang} />}
      </div>
    </div>
  );
}
