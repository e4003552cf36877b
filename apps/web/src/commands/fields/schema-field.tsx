import { Plus, Trash2 } from 'lucide-react';
import { t } from '../../messages/messages.ts';
import { Button } from '../../parts/button.tsx';
import { meantForm, type Draft } from '../form-value.ts';
import type { Schema } from '../type-forms.ts';
import { fieldName } from '../words.ts';
import { useFormContext, type FieldProps } from './context.ts';
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

const isMoney = ({ properties }: Schema) => properties?.['amount_micros'] !== undefined;
const draftOf = (value: unknown): Draft => (typeof value === 'object' && value !== null ? (value as Draft) : {});

/** The fields of a group, one below or beside the other. */
export function ObjectFields({ schema, path, value, onChange }: Omit<FieldProps, 'label' | 'required'>) {
  const draft = draftOf(value);
  return (
    <div className={own.grid}>
      {Object.entries(schema.properties ?? {})
        .filter(([, of]) => of.const === undefined || typeof of.const === 'boolean')
        .map(([name, of]) => (
          <SchemaField
            key={name}
            schema={of}
            path={`${path}/${name}`}
            label={fieldName(name)}
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
  const isWrong = Object.keys(faults).some((each) => each.startsWith(`${path}/`));
  const inside = Object.keys(schema.properties ?? {}).length;
  if (inside > 4)
    return (
      <details className={own.group} open={isWrong || Object.keys(draftOf(value)).length > 0}>
        <summary>{label}</summary>
        <ObjectFields {...props} />
      </details>
    );
  return (
    <fieldset className={own.group}>
      <legend>{label}</legend>
      <ObjectFields {...props} />
    </fieldset>
  );
}

/** A value of several kinds: the kind, then its fields. */
function KindField(props: FieldProps) {
  const { schema, path, label, value, onChange } = props;
  const forms = schema.oneOf ?? schema.anyOf ?? [];
  const kinds = forms.flatMap(({ properties }) => {
    const kind = properties?.['kind']?.const;
    return typeof kind === 'string' ? [kind] : [];
  });
  const simple = forms.find(({ pattern }) => referenceType(pattern) !== undefined);
  if (kinds.length === 0) return simple ? <ReferenceField {...props} schema={simple} /> : <TextField {...props} />;
  const chosen = draftOf(value)['kind'];
  const kind: FieldProps = {
    ...{ schema: {}, path: `${path}/kind`, label, required: true, value: chosen },
    onChange: (next) => onChange({ kind: next }),
  };
  return (
    <div className={own.kind}>
      <ChoiceField {...kind} choices={kinds} />
      {chosen !== undefined && <ObjectFields {...props} schema={meantForm(schema, value)} />}
    </div>
  );
}

/** Entries of a list: each can be removed, and others added. */
function RowsField({ schema, path, label, value, onChange }: FieldProps) {
  const rows = Array.isArray(value) ? (value as readonly unknown[]) : [];
  const items = schema.items ?? {};
  const put = (at: number, next: unknown) => onChange(rows.map((row, place) => (place === at ? next : row)));
  return (
    <fieldset className={own.rows}>
      <legend>{label}</legend>
      {rows.map((row, at) => (
        <div key={at} className={own.row}>
          {items.type === 'object' ? (
            <ObjectFields schema={items} path={`${path}/${at}`} value={row} onChange={(next) => put(at, next)} />
          ) : (
            <SchemaField
              {...{ schema: items, path: `${path}/${at}`, value: row, required: true }}
              label={t('ads.row', { place: at + 1 })}
              onChange={(next) => put(at, next)}
            />
          )}
          <Button
            kind="quiet"
            size="small"
            square
            icon={Trash2}
            aria-label={`${t('ads.remove')}: ${label} ${at + 1}`}
            onClick={() => onChange(rows.filter((_, place) => place !== at))}
          />
        </div>
      ))}
      <div>
        <Button
          size="small"
          icon={Plus}
          aria-label={`${t('ads.add')}: ${label}`}
          onClick={() => onChange([...rows, items.type === 'object' ? {} : ''])}
        >
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
  return referenceType(schema.pattern) === undefined ? <TextField {...props} /> : <ReferenceField {...props} />;
}

/** The field that a schema asks for. */
function SchemaField(props: FieldProps) {
  const { schema } = props;
  const forms = (schema.oneOf ?? schema.anyOf)?.filter(({ type }) => type !== 'null');
  if (forms?.length === 1 && forms[0]) return <SchemaField {...props} schema={forms[0]} />;
  if (forms) return <KindField {...props} />;
  if (schema.type === 'array') return <ListField {...props} />;
  if (schema.type !== 'object') return <ScalarField {...props} />;
  return isMoney(schema) ? <MoneyField {...props} /> : <Group {...props} />;
}
