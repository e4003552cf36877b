import { Save, Undo2 } from 'lucide-react';
import type { ReactNode } from 'react';
import { classes } from '../../look/classes.ts';
import { t, type MessageKey } from '../../messages/messages.ts';
import { Button } from '../button.tsx';
import { Dialog } from '../dialog.tsx';
import { ProblemBanner } from '../problem.tsx';
import type { FormValue, FormValues } from './form-state.ts';
import type { Form } from './use-form.ts';
import styles from './form.module.css';

/** The names of a form's fields for people. */
export type FieldNames<V extends FormValues> = Readonly<Record<keyof V & string, MessageKey>>;

function valueText(value: FormValue | undefined): string {
  if (typeof value === 'boolean') return t(value ? 'yes' : 'no');
  const text = typeof value === 'string' ? value : (value ?? []).join(', ');
  return text === '' ? t('form.nothing') : text;
}

/** Fields that somebody else changed too: theirs and mine, and a choice. */
function Conflicts<V extends FormValues>({
  form,
  names,
  shows = valueText,
}: {
  readonly form: Form<V>;
  readonly names: FieldNames<V>;
  readonly shows: ((value: FormValue | undefined) => string) | undefined;
}) {
  const { conflicts, taken, values } = form.state;
  if (conflicts.length === 0 && taken.length === 0) return null;
  return (
    <section className={styles.meanwhile} role="alert" aria-label={t('form.meanwhile')}>
      <h2>{t('form.meanwhile')}</h2>
      {taken.length > 0 && <p>{t('form.taken', { fields: taken.map((name) => t(names[name])).join(', ') })}</p>}
      {conflicts.length > 0 && <p>{t('form.decide')}</p>}
      {conflicts.map(({ name, theirs }) => (
        <div key={name} className={styles.conflict} role="group" aria-label={t(names[name])}>
          <b>{t(names[name])}</b>
          <div className={styles.sides}>
            <div className={styles.side}>
              <span className={styles.caption}>{t('form.theirs')}</span>
              <p className={styles.value}>{shows(theirs)}</p>
              <Button size="small" onClick={() => form.decide(name, 'theirs')}>
                {t('form.take_theirs')}
              </Button>
            </div>
            <div className={styles.side}>
              <span className={styles.caption}>{t('form.mine')}</span>
              <p className={styles.value}>{shows(values[name])}</p>
              <Button size="small" onClick={() => form.decide(name, 'mine')}>
                {t('form.keep_mine')}
              </Button>
            </div>
          </div>
        </div>
      ))}
    </section>
  );
}

/** Says that text of an earlier visit stands in the form. */
export const Restored = ({ onDiscard }: { readonly onDiscard: () => void }) => (
  <div className={styles.restored} role="status">
    <span>{t('form.restored')}</span>
    <Button size="small" kind="quiet" icon={Undo2} onClick={onDiscard}>
      {t('form.throw_away')}
    </Button>
  </div>
);

/** Asks before unsaved text is left. It is kept in the browser, so that leaving loses nothing. */
export function Leaving({ form }: { readonly form: Pick<Form<FormValues>, 'leaving' | 'discard'> }) {
  const { leaving, discard } = form;
  return (
    <Dialog
      isOpen={leaving !== undefined}
      onClose={() => leaving?.stay()}
      title={t('form.leave')}
      actions={
        <>
          <Button
            kind="danger"
            onClick={() => {
              discard();
              leaving?.leave();
            }}
          >
            {t('form.throw_away')}
          </Button>
          <Button onClick={() => leaving?.leave()}>{t('form.leave_keep')}</Button>
          <Button kind="primary" onClick={() => leaving?.stay()}>
            {t('form.stay')}
          </Button>
        </>
      }
    >
      <p>{t('form.leave_help')}</p>
    </Dialog>
  );
}

/** What the button that saves waits for, or whether there is something to save. */
function standing<V extends FormValues>({ state, isWaiting, changed }: Form<V>): MessageKey {
  if (state.conflicts.length > 0) return 'form.decide_first';
  if (isWaiting) return 'form.wait_for_file';
  return changed.length > 0 ? 'form.unsaved' : 'form.all_saved';
}

/**
 * A form with what all forms have: what others changed meanwhile, text of an earlier visit, a refusal, the button that saves.
 * @param saves what the button says
 * @param shows a value in words, where it is not its own
 * @param inCard whether it is one card of several of a page, and not the page's main thing
 * @param onSaved called once the server has it
 */
export function FormFrame<V extends FormValues>({
  form,
  names,
  shows,
  saves,
  inCard = false,
  onSaved,
  children,
}: {
  readonly form: Form<V>;
  readonly names: FieldNames<V>;
  readonly shows?: (value: FormValue | undefined) => string;
  readonly saves: MessageKey;
  readonly inCard?: boolean;
  readonly onSaved: () => void;
  readonly children: ReactNode;
}) {
  const { problem, isRestored, changed, isSaving, isWaiting, discard, submit, state } = form;
  const isStale = problem?.status === 412;
  return (
    <form
      className={classes(styles.form, inCard && styles.inCard)}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void submit().then((isSaved) => isSaved && onSaved());
      }}
    >
      {isRestored && changed.length > 0 && <Restored onDiscard={discard} />}
      <Conflicts form={form} names={names} shows={shows} />
      {children}
      {problem && !isStale && <ProblemBanner error={problem} />}
      <div className={styles.foot}>
        <Button
          type="submit"
          kind={inCard ? 'plain' : 'primary'}
          icon={Save}
          busy={isSaving || isWaiting || state.conflicts.length > 0}
        >
          {t(saves)}
        </Button>
        <span className={styles.hint} role="status">
          {t(standing(form))}
        </span>
      </div>
      <Leaving form={form} />
    </form>
  );
}
