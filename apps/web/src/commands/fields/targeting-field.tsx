import { Trash2 } from 'lucide-react';
import { useId, useState, type ComponentType } from 'react';
import { t } from '../../messages/messages.ts';
import { Button } from '../../parts/button.tsx';
import { Field } from '../../parts/field.tsx';
import { isObject } from '../form-value.ts';
import type { Schema } from '../type-forms.ts';
import { fieldName } from '../words.ts';
import { useFormContext, type FieldProps } from './context.ts';
import { FaultText, faultyGroup, useFault } from './fault.tsx';
import own from './fields.module.css';
import { firstRule, usedRules } from './targeting-rules.ts';
import { WeekGrid } from './week-grid.tsx';

/** Fields by schema, which the form's own module gives: it and this one name each other. */
type FieldOf = ComponentType<FieldProps>;

const formOf = ({ anyOf, ...schema }: Schema): Schema => anyOf?.find(({ type }) => type === 'object') ?? schema;

/** Hours of the week in a zone. */
function Dayparts({ of, field: OneField }: { readonly of: FieldProps; readonly field: FieldOf }) {
  const { schema, path, value, onChange } = of;
  const id = useId();
  const fault = useFault(`${path}/hours`);
  const draft = isObject(value) ? value : {};
  const zone = formOf(schema).properties?.['time_zone'];
  const hours = Array.isArray(draft['hours']) ? (draft['hours'] as readonly number[]) : [];
  const set = (name: string) => (next: unknown) => onChange({ ...draft, [name]: next });
  return (
    <div className={own.kind}>
      <OneField
        schema={zone ?? {}}
        path={`${path}/time_zone`}
        label={fieldName('time_zone')}
        required
        value={draft['time_zone']}
        onChange={set('time_zone')}
      />
      <WeekGrid
        label={fieldName('dayparts')}
        hours={hours}
        onChange={set('hours')}
        describedBy={fault === undefined ? undefined : id}
      />
      <FaultText id={id}>{fault}</FaultText>
    </div>
  );
}

/** One dimension: what is in and what is out, or its own value; and what takes the rule away. */
function Rule({
  of,
  field: OneField,
  onRemove,
}: {
  readonly of: FieldProps;
  readonly field: FieldOf;
  readonly onRemove: () => void;
}) {
  const { schema, path, label, value, onChange } = of;
  const id = useId();
  const fault = useFault(path);
  const parts = formOf(schema).properties;
  const isWeek = parts?.['hours'] !== undefined;
  const draft = isObject(value) ? value : {};
  return (
    <fieldset className={own.rule} data-rule={path} {...faultyGroup(id, fault)}>
      {parts && <legend>{label}</legend>}
      {parts && <FaultText id={id}>{fault}</FaultText>}
      {isWeek && <Dayparts of={of} field={OneField} />}
      {!isWeek && parts && (
        <div className={own.grid}>
          {Object.entries(parts).map(([name, part]) => (
            <OneField
              key={name}
              schema={part}
              path={`${path}/${name}`}
              label={fieldName(name)}
              required={false}
              value={draft[name]}
              onChange={(next) => onChange({ ...draft, [name]: next })}
            />
          ))}
        </div>
      )}
      {!parts && <OneField {...of} />}
      <Button
        kind="quiet"
        size="small"
        square
        icon={Trash2}
        aria-label={`${t('ads.remove')}: ${label}`}
        onClick={onRemove}
      />
    </fieldset>
  );
}

/** Which plays fit: no rule is every play, and each rule that is added narrows them. */
export function TargetingField(props: FieldProps & { readonly field: FieldOf }) {
  const { schema, path, label, value, onChange, field } = props;
  const { workspace, faults } = useFormContext();
  const id = useId();
  const fault = useFault(path);
  const draft = isObject(value) ? value : {};
  const [added, setAdded] = useState<readonly string[]>([]);
  const used = usedRules(schema, draft);
  const names = Object.keys(schema.properties ?? {});
  const isWrong = (name: string) => Object.keys(faults).some((each) => each.startsWith(`${path}/${name}`));
  const shown = names.filter((name) => used.includes(name) || added.includes(name) || isWrong(name));
  const set = (name: string, next: unknown) => onChange({ ...draft, [name]: next });
  const add = (name: string) => {
    setAdded([...added, name]);
    set(name, firstRule(name, workspace.timeZone));
    // The rule is drawn by then.
    requestAnimationFrame(() =>
      document.querySelector<HTMLElement>(`[data-rule="${path}/${name}"] :is(input, select, [tabindex="0"])`)?.focus(),
    );
  };
  const remove = (name: string) => {
    setAdded(added.filter((each) => each !== name));
    set(name, undefined);
    document.querySelector<HTMLElement>(`[data-add-rule="${path}"] select`)?.focus();
  };
  return (
    <fieldset className={own.rows} {...faultyGroup(id, fault)}>
      <legend>{label}</legend>
      {shown.length === 0 && <p className={own.every}>{t('ads.every_play')}</p>}
      {shown.map((name) => (
        <Rule
          key={name}
          of={{
            ...{ schema: schema.properties?.[name] ?? {}, path: `${path}/${name}`, label: fieldName(name) },
            ...{ required: false, value: draft[name], onChange: (next) => set(name, next) },
          }}
          field={field}
          onRemove={() => remove(name)}
        />
      ))}
      <FaultText id={id}>{fault}</FaultText>
      <div className={own.adds} data-add-rule={path}>
        <Field label={t('ads.narrow_by')}>
          {(control) => (
            <select {...control} value="" onChange={({ target }) => add(target.value)}>
              <option value="">{t('ads.choose')}</option>
              {names
                .filter((name) => !shown.includes(name))
                .map((name) => (
                  <option key={name} value={name}>
                    {fieldName(name)}
                  </option>
                ))}
            </select>
          )}
        </Field>
      </div>
    </fieldset>
  );
}
