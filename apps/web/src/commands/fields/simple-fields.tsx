import { useQuery } from '@tanstack/react-query';
import { useId, useState, type ReactNode } from 'react';
import { resourcesQuery } from '../../api/management.ts';
import { typesByPrefix } from '../../generated/forms/index.ts';
import { t } from '../../messages/messages.ts';
import { Field, type FieldControl } from '../../parts/field.tsx';
import { zoneName } from '../../parts/format.ts';
import styles from '../../parts/form/form.module.css';
import { instantIn, offsetText } from '../../parts/form/zone-time.ts';
import { amountText, microsOf, textsOf } from '../form-value.ts';
import { nameOf } from '../name-of.ts';
import { heldInstant, typedInstant, type TypedInstant } from '../typed-instant.ts';
import { choiceName, stateName } from '../words.ts';
import { useFormContext, type FieldProps } from './context.ts';
import { FaultText, faultyGroup, useFault } from './fault.tsx';
import own from './fields.module.css';
import { exampleOf } from './targeting-rules.ts';

/** A control with its label, and what is wrong with it. */
export function Labelled({
  of: { path, label, required },
  hint,
  isWhole,
  children,
}: {
  readonly of: Pick<FieldProps, 'path' | 'label' | 'required'>;
  readonly hint?: string | undefined;
  /** Whether the control stands for all that is inside. */
  readonly isWhole?: boolean;
  readonly children: (control: FieldControl) => ReactNode;
}) {
  const fault = useFault(path, isWhole);
  return (
    <Field label={label} hint={hint} error={fault} required={required}>
      {children}
    </Field>
  );
}

/** A text, one line or several. */
export function TextField(props: FieldProps) {
  const { schema, value, onChange } = props;
  const text = typeof value === 'string' ? value : '';
  const isLong = (schema.maxLength ?? 0) >= 1000 && schema.format === undefined;
  return (
    <Labelled of={props}>
      {(control) =>
        isLong ? (
          <textarea {...control} value={text} onChange={(event) => onChange(event.target.value)} />
        ) : (
          <input {...control} autoComplete="off" value={text} onChange={(event) => onChange(event.target.value)} />
        )
      }
    </Labelled>
  );
}

/** A whole or decimal number. */
export function NumberField(props: FieldProps) {
  const { schema, value, onChange } = props;
  return (
    <Labelled of={props}>
      {(control) => (
        <input
          {...control}
          type="number"
          step={schema.type === 'integer' ? 1 : 'any'}
          value={typeof value === 'number' ? value : ''}
          onChange={({ target }) => onChange(target.value === '' ? undefined : Number(target.value))}
        />
      )}
    </Labelled>
  );
}

/** One of a few values. */
export function ChoiceField(props: FieldProps & { readonly choices: readonly string[] }) {
  const { value, onChange, required, choices } = props;
  return (
    <Labelled of={props}>
      {(control) => (
        <select
          {...control}
          value={typeof value === 'string' ? value : ''}
          onChange={({ target }) => onChange(target.value === '' ? undefined : target.value)}
        >
          {(!required || value === undefined) && <option value="">{required ? t('ads.choose') : '–'}</option>}
          {choices.map((choice) => (
            <option key={choice} value={choice}>
              {choiceName(choice)}
            </option>
          ))}
        </select>
      )}
    </Labelled>
  );
}

/** Yes or no; of one that can only be agreed to, no is left out. */
export function CheckField({ schema, label, path, value, onChange }: FieldProps) {
  const id = useId();
  const fault = useFault(path);
  return (
    <div>
      <label className={styles.check}>
        <input
          type="checkbox"
          aria-describedby={fault === undefined ? undefined : id}
          aria-invalid={fault === undefined ? undefined : true}
          checked={value === true}
          onChange={({ target }) => onChange(schema.const === true && !target.checked ? undefined : target.checked)}
        />
        <b>{label}</b>
      </label>
      <FaultText id={id}>{fault}</FaultText>
    </div>
  );
}

/** Some of a few values. */
export function ChoicesField({ schema, label, path, value, onChange }: FieldProps) {
  const id = useId();
  const fault = useFault(path, true);
  const chosen = Array.isArray(value) ? (value as readonly string[]) : [];
  const choices = schema.items?.enum ?? [];
  const toggle = (choice: string, isOn: boolean) =>
    onChange(choices.filter((each) => (each === choice ? isOn : chosen.includes(each))));
  return (
    <fieldset className={own.choices} {...faultyGroup(id, fault)}>
      <legend>{label}</legend>
      {choices.map((choice) => (
        <label key={choice}>
          <input
            type="checkbox"
            checked={chosen.includes(choice)}
            onChange={({ target }) => toggle(choice, target.checked)}
          />
          {choiceName(choice)}
        </label>
      ))}
      <FaultText id={id}>{fault}</FaultText>
    </fieldset>
  );
}

/** Several short texts, with commas between them. */
export function TextsField(props: FieldProps) {
  const { value, onChange, schema } = props;
  const [text, setText] = useState(Array.isArray(value) ? value.join(', ') : '');
  const isNumber = schema.items?.type === 'integer';
  return (
    <Labelled of={props} hint={t('ads.list_hint')} isWhole>
      {(control) => (
        <input
          {...control}
          autoComplete="off"
          placeholder={exampleOf(schema)}
          value={text}
          onChange={({ target }) => {
            setText(target.value);
            const texts = textsOf(target.value);
            onChange(isNumber ? texts.map(Number) : texts);
          }}
        />
      )}
    </Labelled>
  );
}

/** An amount in the workspace's currency. */
export function MoneyField(props: FieldProps) {
  const { workspace } = useFormContext();
  const { value, onChange, label } = props;
  const money = (value ?? {}) as { readonly amount_micros?: string; readonly currency?: string };
  const currency = money.currency ?? workspace.currency;
  const [text, setText] = useState(amountText(money.amount_micros));
  return (
    <Labelled of={{ ...props, label: t('ads.amount_in', { name: label, currency }) }} isWhole>
      {(control) => (
        <input
          {...control}
          inputMode="decimal"
          autoComplete="off"
          value={text}
          onChange={({ target }) => {
            setText(target.value);
            const isEmpty = target.value.trim() === '';
            onChange(isEmpty ? undefined : { amount_micros: microsOf(target.value) ?? target.value, currency });
          }}
        />
      )}
    </Labelled>
  );
}

/** A day and a time in the workspace's zone. A time that clocks jump over, or half of one, is refused; one that they show twice is asked. */
export function InstantField({ path, label, value, required, onChange }: FieldProps) {
  const { timeZone: zone } = useFormContext().workspace;
  const [typed, setTyped] = useState(() => typedInstant(value, zone));
  const found = instantIn(typed.day, typed.time, zone);
  const change = (next: TypedInstant) => {
    setTyped(next);
    onChange(heldInstant(next, zone));
  };
  const fault = useFault(path);
  const isTimeMissing = typed.day !== '' && typed.time === '';
  const dayFault = isTimeMissing ? undefined : fault;
  return (
    <div className={own.instant}>
      <Field
        label={t('ads.date', { name: label })}
        error={found.kind === 'gap' ? t('fault.gap') : dayFault}
        required={required}
      >
        {(control) => (
          <input
            {...control}
            type="date"
            value={typed.day}
            onChange={({ target }) => change({ ...typed, day: target.value })}
          />
        )}
      </Field>
      <Field
        label={t('ads.time', { name: label })}
        hint={t('zone_time', { zone: zoneName(zone) })}
        error={isTimeMissing ? fault : undefined}
      >
        {(control) => (
          <input
            {...control}
            type="time"
            value={typed.time}
            onChange={({ target }) => change({ ...typed, time: target.value })}
          />
        )}
      </Field>
      {found.kind === 'fold' && (
        <Field label={t('ads.fold')}>
          {(control) => (
            <select {...control} value={String(value)} onChange={({ target }) => onChange(target.value)}>
              {[found.first, found.second].map((at) => (
                <option key={at} value={at}>
                  {offsetText(at, zone)}
                </option>
              ))}
            </select>
          )}
        </Field>
      )}
    </div>
  );
}

/** The type that a reference names: by the prefix that its ids have. */
export const referenceType = (pattern: string | undefined): string | undefined => {
  const prefix = /^\^([a-z]+)_\[0-9a-z\]/.exec(pattern ?? '')?.[1];
  return prefix === undefined ? undefined : typesByPrefix[prefix];
};

/** Another resource of the workspace, chosen by its name; the newest ones first. */
export function ReferenceField(props: FieldProps) {
  const { workspace } = useFormContext();
  const { schema, value, onChange, required } = props;
  const type = referenceType(schema.pattern) ?? '';
  const { data = [] } = useQuery(resourcesQuery(workspace.id, type));
  const chosen = typeof value === 'string' ? value : '';
  const isKnown = chosen === '' || data.some(({ id }) => id === chosen);
  return (
    <Labelled of={props} hint={data.length === 0 ? t('ads.missing') : undefined}>
      {(control) => (
        <select
          {...control}
          value={chosen}
          onChange={({ target }) => onChange(target.value === '' ? undefined : target.value)}
        >
          {(!required || chosen === '') && <option value="">{t('ads.choose')}</option>}
          {!isKnown && <option value={chosen}>{chosen}</option>}
          {data.map((resource) => (
            <option key={resource.id} value={resource.id}>
              {`${nameOf(resource)} (${stateName(resource.lifecycle_state)})`}
            </option>
          ))}
        </select>
      )}
    </Labelled>
  );
}
