import { Plus, Trash2 } from 'lucide-react';
import { useId, useState } from 'react';
import { t } from '../../messages/messages.ts';
import { Button } from '../../parts/button.tsx';
import { focusAfterRemoval } from '../../parts/form/row-focus.ts';
import { isObject, meantForm, type Draft } from '../form-value.ts';
import type { Schema } from '../type-forms.ts';
import { fieldName } from '../words.ts';
import { useFormContext, type FieldProps } from './context.ts';
import { FaultText, faultyGroup, useFault } from './fault.tsx';
import own from './fields.module.css';
import {
  CheckField,
  ChoiceField,
  ChoicesField,
  InstantField,
  MoneyField,
  NumberField,
  ReferenceField,
  referenceType,
  TextField,
  TextsField,
} from './simple-fields.tsx';
import { TargetingField } from './targeting-field.tsx';
import { isTargeting } from './targeting-rules.ts';
import { UploadField } from './upload-field.tsx';

const isMoney = ({ properties }: Schema) => properties?.['amount_micros'] !== undefined;
const groupOf = (value: unknown): Draft => (isObject(value) ? value : {});

/** The fields of a group, one below or beside the other. */
export function ObjectFields({ schema, path, value, onChange }: Omit<FieldProps, 'label' | 'required'>) {
  const draft = groupOf(value);
  return (
    <div className={own.grid}>
      {Object.entries(schema.properties ?? {})
        .filter(([, of]) => of.const === undefined || typeof of.const === 'boolean')
        .map(([name, of]) => (
          <SchemaField
            key={name}
            schema={of}
            path={`${path}/${name}`}
            label={of.title ?? fieldName(name)}
            required={schema.required?.includes(name) ?? false}
            value={draft[name]}
            onChange={(next) => onChange({ ...draft, [name]: next })}
          />
        ))}
    </div>
  );
}

/** A group with its name. One with much inside that nobody has to fill in is folded. */
function Group(props: FieldProps) {
  const { schema, label, value, path } = props;
  const { faults } = useFormContext();
  const id = useId();
  const fault = useFault(path);
  const isWrong = Object.keys(faults).some((each) => each === path || each.startsWith(`${path}/`));
  const inside = Object.keys(schema.properties ?? {}).length;
  if (inside > 4)
    return (
      <details className={own.group} open={isWrong || Object.keys(groupOf(value)).length > 0}>
        <summary {...(fault !== undefined && { 'aria-describedby': id, 'data-invalid': true })}>{label}</summary>
        <FaultText id={id}>{fault}</FaultText>
        <ObjectFields {...props} />
      </details>
    );
  return (
    <fieldset className={own.group} {...faultyGroup(id, fault)}>
      <legend>{label}</legend>
      <FaultText id={id}>{fault}</FaultText>
      <ObjectFields {...props} />
    </fieldset>
  );
}

/** A value of several kinds: the kind, then its fields. */
function KindField(props: FieldProps) {
  const { schema, path, label, value, onChange } = props;
  const { faults } = useFormContext();
  const forms = schema.oneOf ?? schema.anyOf ?? [];
  const kinds = forms.flatMap(({ properties }) => {
    const kind = properties?.['kind']?.const;
    return typeof kind === 'string' ? [kind] : [];
  });
  const simple = forms.find(({ pattern }) => referenceType(pattern) !== undefined);
  if (kinds.length === 0) return simple ? <ReferenceField {...props} schema={simple} /> : <TextField {...props} />;
  const chosen = groupOf(value)['kind'];
  const kind: FieldProps = {
    ...{ schema: {}, path: faults[path] ? path : `${path}/kind`, label, required: true, value: chosen },
    onChange: (next) => onChange({ kind: next }),
  };
  return (
    <div className={own.kind}>
      <ChoiceField {...kind} choices={kinds} />
      {chosen !== undefined && <ObjectFields {...props} schema={meantForm(schema, value)} />}
    </div>
  );
}

/** One entry of a list, and what removes it. */
function Row({
  label,
  number,
  onRemove,
  ...field
}: Pick<FieldProps, 'schema' | 'path' | 'label' | 'value' | 'onChange'> & {
  readonly number: number;
  readonly onRemove: () => void;
}) {
  const id = useId();
  const isGroup = field.schema.type === 'object';
  const fault = useFault(field.path);
  return (
    <div className={own.row} data-row {...(isGroup && { role: 'group', ...faultyGroup(id, fault) })}>
      {isGroup ? (
        <ObjectFields {...field} />
      ) : (
        <SchemaField {...field} required label={t('ads.row', { place: number })} />
      )}
      {isGroup && <FaultText id={id}>{fault}</FaultText>}
      <Button
        kind="quiet"
        size="small"
        square
        icon={Trash2}
        aria-label={`${t('ads.remove')}: ${label} ${number}`}
        onClick={onRemove}
      />
    </div>
  );
}

/** Entries of a list: each can be removed, and others added. */
function RowsField({ schema, path, label, value, onChange }: FieldProps) {
  const id = useId();
  const fault = useFault(path);
  const rows = Array.isArray(value) ? (value as readonly unknown[]) : [];
  // Fields hold texts of their own: each row keeps its key when others are removed.
  const [keys, setKeys] = useState(() => rows.map((_row, at) => at));
  const items = schema.items ?? {};
  const add = () => {
    setKeys([...keys, Math.max(-1, ...keys) + 1]);
    onChange([...rows, items.type === 'object' ? {} : '']);
  };
  const remove = (at: number) => {
    setKeys(keys.toSpliced(at, 1));
    onChange(rows.toSpliced(at, 1));
    focusAfterRemoval(path, at);
  };
  return (
    <fieldset className={own.rows} data-rows={path} {...faultyGroup(id, fault)}>
      <legend>{label}</legend>
      {rows.map((row, at) => (
        <Row
          key={keys[at]}
          {...{ schema: items, path: `${path}/${at}`, label, number: at + 1, value: row }}
          onChange={(next) => onChange(rows.with(at, next))}
          onRemove={() => remove(at)}
        />
      ))}
      <FaultText id={id}>{fault}</FaultText>
      <div>
        <Button size="small" icon={Plus} data-add={path} aria-label={`${t('ads.add')}: ${label}`} onClick={add}>
          {t('ads.add')}
        </Button>
      </div>
    </fieldset>
  );
}

function ListField(props: FieldProps) {
  const { items } = props.schema;
  if (items?.enum) return <ChoicesField {...props} />;
  const isPlain = items?.type !== 'object' && !items?.oneOf && referenceType(items?.pattern) === undefined;
  return isPlain ? <TextsField {...props} /> : <RowsField {...props} />;
}

function ScalarField(props: FieldProps) {
  const { schema } = props;
  if (schema.type === 'boolean') return <CheckField {...props} />;
  if (schema.type === 'integer' || schema.type === 'number') return <NumberField {...props} />;
  if (schema.enum) return <ChoiceField {...props} choices={schema.enum} />;
  if (schema.format === 'date-time') return <InstantField {...props} />;
  const type = referenceType(schema.pattern);
  if (type === 'uploads') return <UploadField {...props} />;
  return type === undefined ? <TextField {...props} /> : <ReferenceField {...props} />;
}

/** The field that a schema asks for. */
function SchemaField(props: FieldProps) {
  const { schema } = props;
  const forms = (schema.oneOf ?? schema.anyOf)?.filter(({ type }) => type !== 'null');
  if (forms?.length === 1 && forms[0]) return <SchemaField {...props} schema={forms[0]} />;
  if (forms) return <KindField {...props} />;
  if (schema.type === 'array') return <ListField {...props} />;
  if (schema.type !== 'object') return <ScalarField {...props} />;
  if (isTargeting(schema)) return <TargetingField {...props} field={SchemaField} />;
  return isMoney(schema) ? <MoneyField {...props} /> : <Group {...props} />;
}
