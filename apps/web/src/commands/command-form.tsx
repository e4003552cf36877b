import { useEffect, useId } from 'react';
import { classes } from '../look/classes.ts';
import { t } from '../messages/messages.ts';
import { Button } from '../parts/button.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import { Leaving, Restored } from '../parts/form/form-frame.tsx';
import formStyles from '../parts/form/form.module.css';
import { ProblemBanner } from '../parts/problem.tsx';
import { reviewText } from './allowed.ts';
import styles from './command-form.module.css';
import { FormValues, type FieldProps } from './fields/context.ts';
import { ObjectFields } from './fields/schema-field.tsx';
import type { Draft } from './form-value.ts';
import { hintsOf } from './hints.ts';
import { Meanwhile } from './meanwhile.tsx';
import { requestText } from './request-text.ts';
import type { CommandForm as Form, Schema } from './type-forms.ts';
import { useCommandForm, type CommandFormOptions } from './use-command-form.ts';
import { commandName } from './words.ts';

/** Part of a schema: the fields of these names, in their order. */
const partOf = (schema: Schema, names: readonly string[]): Schema => ({
  ...schema,
  properties: Object.fromEntries(names.map((name) => [name, schema.properties?.[name] ?? {}])),
});

/** What a command does outside, and who has to agree. */
function Consequences({ form: { effect, review, summary } }: { readonly form: Form }) {
  const agrees = reviewText[review as keyof typeof reviewText];
  return (
    <div className={styles.consequences}>
      <p lang="en">{[summary, effect].filter(Boolean).join(' ')}</p>
      {agrees !== undefined && <p>{t(agrees)}</p>}
    </div>
  );
}

/** The fields of a form: in the steps that its type has, the others below, each with its part of the draft. */
function StepFields({ type, schema, ...group }: { readonly type: string } & Omit<FieldProps, 'label' | 'required'>) {
  const id = useId();
  const names = Object.keys(schema.properties ?? {});
  const steps = (hintsOf(type).steps ?? [])
    .map((step) => ({ ...step, fields: step.fields.filter((name) => names.includes(name)) }))
    .filter(({ fields }) => fields.length > 0);
  if (steps.length < 2) return <ObjectFields {...group} schema={schema} />;
  const rest = names.filter((name) => !steps.some(({ fields }) => fields.includes(name)));
  return (
    <>
      {steps.map(({ title, fields }, at) => (
        <section key={title} className={styles.step} aria-labelledby={`${id}-${at}`}>
          <h3 id={`${id}-${at}`}>{t(title)}</h3>
          <ObjectFields {...group} schema={partOf(schema, fields)} />
        </section>
      ))}
      {rest.length > 0 && <ObjectFields {...group} schema={partOf(schema, rest)} />}
    </>
  );
}

/** The browser's own sentence at the first date, time or number that is half typed: such a field has no value to be checked. */
function isHalfTyped(controls: HTMLFormElement): boolean {
  const half = [...controls.querySelectorAll('input')].find(({ validity }) => validity.badInput);
  const folded = half?.closest('details');
  if (folded) folded.open = true;
  half?.reportValidity();
  return half !== undefined;
}

/**
 * The form of one command, made of its fields in the catalog.
 * @param onDraft is told what stands in the form, for what is shown beside it
 * @param button what the button says; without it, what the command is called
 */
export function CommandForm({
  onDraft,
  button,
  ...options
}: CommandFormOptions & { readonly onDraft?: (draft: Draft) => void; readonly button?: string }) {
  const { workspace, type, form } = options;
  const state = useCommandForm(options);
  const { draft } = state;
  useEffect(() => onDraft?.(draft), [onDraft, draft]);
  const { schema, faults, meanwhile, error, isPending } = state;
  const { more = [] } = hintsOf(type);
  const isMore = (name: string) => more.includes(name) && !schema.required?.includes(name);
  const names = Object.keys(schema.properties ?? {});
  const first = partOf(
    schema,
    names.filter((name) => !isMore(name)),
  );
  const second = partOf(schema, names.filter(isMore));
  const group = { path: '', value: draft, onChange: (next: unknown) => state.set(next as Draft) };
  const { subject, changes } = state.request();
  return (
    <FormValues value={{ workspace, faults }}>
      <form
        className={classes(formStyles.form, formStyles.inCard)}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (!isHalfTyped(event.currentTarget)) state.send();
        }}
      >
        {state.isRestored && <Restored onDiscard={state.discard} />}
        {meanwhile && (
          <Meanwhile workspace={workspace.id} found={meanwhile} seen={state.seen} onDecide={state.decide} />
        )}
        <StepFields key={`first-${state.turns}`} {...group} type={type} schema={first} />
        {Object.keys(second.properties ?? {}).length > 0 && (
          <details className={styles.more} open={Object.keys(faults).some((path) => isMore(path.split('/')[1] ?? ''))}>
            <summary>{t('ads.more_settings')}</summary>
            <ObjectFields key={`second-${state.turns}`} {...group} schema={second} />
          </details>
        )}
        <Consequences form={form} />
        {error !== null && <ProblemBanner error={error} />}
        <div className={formStyles.foot}>
          <Button kind="primary" type="submit" busy={isPending || meanwhile !== undefined}>
            {button ?? commandName(form.type, form.from === null ? type : undefined)}
          </Button>
          {meanwhile && (
            <span className={formStyles.hint} role="status">
              {t('form.decide_first')}
            </span>
          )}
          <CopyButton name="ads.copy_request" text={requestText(workspace.id, form.type, subject, changes)} />
        </div>
        <Leaving form={state} />
      </form>
    </FormValues>
  );
}
