import { useState } from 'react';
import type { Workspace } from '../api/me.ts';
import { useCommand, type Operation, type Resource } from '../api/management.ts';
import { asProblem, type ApiProblem } from '../api/problems.ts';
import { classes } from '../look/classes.ts';
import { t } from '../messages/messages.ts';
import { Button } from '../parts/button.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import formStyles from '../parts/form/form.module.css';
import { ProblemBanner } from '../parts/problem.tsx';
import { reviewText } from './allowed.ts';
import { check } from './check.ts';
import styles from './command-form.module.css';
import { FormValues, type FormContext } from './fields/context.ts';
import { ObjectFields } from './fields/schema-field.tsx';
import { changesOf, type Draft } from './form-value.ts';
import { hintsOf } from './hints.ts';
import { requestText } from './request-text.ts';
import type { CommandForm as Form, Schema } from './type-forms.ts';
import { commandName } from './words.ts';

type Faults = FormContext['faults'];

const ownFaults = (schema: Schema, changes: Draft): Faults =>
  Object.fromEntries(
    check(schema, changes).map(({ path, code, limit }) => [
      path,
      { text: t(`fault.${code}`, { limit: limit ?? 0 }), isEnglish: false },
    ]),
  );

const serverFaults = ({ fields }: ApiProblem): Faults =>
  Object.fromEntries(
    fields.map(({ path, message }) => [path.replace(/^\/changes/, ''), { text: message, isEnglish: true }]),
  );

/** Part of a schema: the fields that a test lets through. */
const partOf = (schema: Schema, isIn: (name: string) => boolean): Schema => ({
  ...schema,
  properties: Object.fromEntries(Object.entries(schema.properties ?? {}).filter(([name]) => isIn(name))),
});

const focusFault = () =>
  requestAnimationFrame(() => document.querySelector<HTMLElement>('[aria-invalid=true]')?.focus());

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

/** What of a form is wrong, and how it is sent. */
function useSending(workspace: Workspace, form: Form, onDone: (operation: Operation) => unknown) {
  const [faults, setFaults] = useState<Faults>({});
  const command = useCommand(workspace.id, onDone);
  const send = (
    subject: { readonly type: string; readonly id: string | null },
    version: number | undefined,
    changes: Draft,
  ) => {
    const found = ownFaults(form.schema, changes);
    setFaults(found);
    if (Object.keys(found).length > 0) return void focusFault();
    command.mutate(
      { type: form.type, subject, version, changes },
      {
        onError: (error) => {
          setFaults(serverFaults(asProblem(error)));
          focusFault();
        },
      },
    );
  };
  return { faults, send, error: command.error, isPending: command.isPending };
}

/**
 * The form of one command, made of its fields in the catalog.
 * @param resource what the command is about; undefined for one that makes it
 * @param start what a new one begins with
 */
export function CommandForm({
  workspace,
  type,
  form,
  resource,
  start,
  onDone,
}: {
  readonly workspace: Workspace;
  readonly type: string;
  readonly form: Form;
  readonly resource?: Resource;
  readonly start: Draft;
  readonly onDone: (operation: Operation) => unknown;
}) {
  const [draft, setDraft] = useState(start);
  const { faults, send, error, isPending } = useSending(workspace, form, onDone);
  const { more = [] } = hintsOf(type);
  const isMore = (name: string) => more.includes(name) && !form.schema.required?.includes(name);
  const [first, second] = [partOf(form.schema, (name) => !isMore(name)), partOf(form.schema, isMore)];
  const subject = { type, id: resource?.id ?? null };
  const version = form.guard === 'required' ? resource?.version : undefined;
  const changes = () => changesOf(form.schema, draft, resource?.attributes);
  const group = { path: '', value: draft, onChange: (next: unknown) => setDraft(next as Draft) };
  return (
    <FormValues value={{ workspace, faults }}>
      <form
        className={classes(formStyles.form, formStyles.inCard)}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (!isPending) send(subject, version, changes());
        }}
      >
        <ObjectFields {...group} schema={first} />
        {Object.keys(second.properties ?? {}).length > 0 && (
          <details className={styles.more} open={Object.keys(faults).some((path) => isMore(path.split('/')[1] ?? ''))}>
            <summary>{t('ads.more_settings')}</summary>
            <ObjectFields {...group} schema={second} />
          </details>
        )}
        <Consequences form={form} />
        {error !== null && <ProblemBanner error={error} />}
        <div className={formStyles.foot}>
          <Button kind="primary" type="submit" busy={isPending}>
            {commandName(form.type, form.from === null ? type : undefined)}
          </Button>
          <CopyButton
            name="ads.copy_request"
            text={requestText(workspace.id, form.type, { ...subject, version }, changes())}
          />
        </div>
      </form>
    </FormValues>
  );
}
