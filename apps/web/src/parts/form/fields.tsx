import type { HTMLAttributes, HTMLInputTypeAttribute, ReactNode } from 'react';
import { t, type MessageKey } from '../../messages/messages.ts';
import { Field, type FieldControl } from '../field.tsx';
import type { FormValues } from './form-state.ts';
import type { FieldFault, Form } from './use-form.ts';
import styles from './form.module.css';

/** What each field of a form gets. */
export interface InForm<V extends FormValues> {
  readonly form: Form<V>;
  readonly name: keyof V & string;
  readonly label: MessageKey;
  readonly hint?: string | undefined;
  readonly required?: boolean;
}

/** A fault as a field shows it: ours in the person's language, the server's in English. */
export const faultText = (fault: FieldFault | undefined): ReactNode | undefined =>
  fault && ('key' in fault ? t(fault.key) : <span lang="en">{fault.sentence}</span>);

/** A field of a form around any control. */
export const FormField = <V extends FormValues>({
  form,
  name,
  label,
  hint,
  required,
  children,
}: InForm<V> & { readonly children: (control: FieldControl) => ReactNode }) => (
  <Field label={t(label)} hint={hint} error={faultText(form.faultOf(name))} required={required ?? false}>
    {children}
  </Field>
);

/** One line of text. `voice` sets it as the show's own words. */
export function TextField<V extends FormValues>({
  type = 'text',
  inputMode,
  maxLength,
  voice = false,
  list,
  ...field
}: InForm<V> & {
  readonly type?: HTMLInputTypeAttribute;
  readonly inputMode?: HTMLAttributes<HTMLInputElement>['inputMode'];
  readonly maxLength?: number;
  readonly voice?: boolean;
  /** The id of a `datalist`. */
  readonly list?: string;
}) {
  const { form, name } = field;
  return (
    <FormField {...field}>
      {({ className, ...control }) => (
        <input
          {...control}
          className={voice ? `${className} voice` : className}
          type={type}
          inputMode={inputMode}
          maxLength={maxLength}
          list={list}
          autoComplete="off"
          value={String(form.state.values[name] ?? '')}
          onChange={(event) => form.set(name, event.target.value)}
        />
      )}
    </FormField>
  );
}

/** One of several values. */
export function SelectField<V extends FormValues>({
  choices,
  ...field
}: InForm<V> & { readonly choices: readonly { readonly value: string; readonly name: string }[] }) {
  const { form, name } = field;
  return (
    <FormField {...field}>
      {(control) => (
        <select
          {...control}
          value={String(form.state.values[name] ?? '')}
          onChange={(event) => form.set(name, event.target.value)}
        >
          {choices.map((choice) => (
            <option key={choice.value} value={choice.value}>
              {choice.name}
            </option>
          ))}
        </select>
      )}
    </FormField>
  );
}

/** Yes or no. */
export const CheckField = <V extends FormValues>({ form, name, label, hint }: InForm<V>) => (
  <label className={styles.check}>
    <input
      type="checkbox"
      checked={form.state.values[name] === true}
      onChange={(event) => form.set(name, event.target.checked)}
    />
    <span>
      <b>{t(label)}</b>
      {hint !== undefined && <small>{hint}</small>}
    </span>
  </label>
);
