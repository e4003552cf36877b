import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { resourceQuery, type Attributes } from '../../api/management.ts';
import { nameOf } from '../../commands/name-of.ts';
import { choiceName, fieldName } from '../../commands/words.ts';
import { typesByPrefix } from '../../generated/forms/index.ts';
import { t } from '../../messages/messages.ts';
import { numberText } from '../../parts/format.ts';
import { moneyText } from '../../parts/money-text.ts';
import { Time } from '../../parts/time.tsx';
import { usePlace } from '../../shell/place.ts';
import styles from './ads.module.css';
import { hasForms } from './type-forms.ts';

const typeOfId = (text: string) => {
  const prefix = /^([a-z]+)_[0-9a-z]{26}$/.exec(text)?.[1];
  return prefix === undefined ? undefined : typesByPrefix[prefix];
};
const isInstant = (text: string) => /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text);
const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  (Array.isArray(value) && value.length === 0) ||
  (typeof value === 'object' && Object.values(value).every(isEmpty));

/** Another resource by its name, without a link. */
export function NameOf({ workspace, id }: { readonly workspace: string; readonly id: string }) {
  const { data } = useQuery({ ...resourceQuery(workspace, typeOfId(id) ?? '', id), retry: false });
  return <>{data ? nameOf(data) : `…${id.slice(-6)}`}</>;
}

/** Another resource by its name, with a link to its page. */
export function ResourceName({ workspace, id }: { readonly workspace: string; readonly id: string }) {
  const type = typeOfId(id) ?? '';
  const name = <NameOf workspace={workspace} id={id} />;
  if (!hasForms(type)) return name;
  return (
    <Link to="/w/$ws/$type/$id" params={{ ws: workspace, type, id }}>
      {name}
    </Link>
  );
}

function TextValue({ workspace, text }: { readonly workspace: string; readonly text: string }) {
  if (isInstant(text)) return <Time at={text} form="moment" />;
  if (typeOfId(text) !== undefined && hasForms(typeOfId(text) ?? ''))
    return <ResourceName workspace={workspace} id={text} />;
  if (typeOfId(text) === 'podcasts') return <ResourceName workspace={workspace} id={text} />;
  return <>{/^[a-z]+(_[a-z]+)*$/.test(text) ? choiceName(text) : text}</>;
}

/** An attribute as people read it: times in the workspace's zone, money with its currency, other resources by name. */
export function AttributeValue({
  workspace,
  value,
}: {
  readonly workspace: string;
  readonly value: unknown;
}): ReactNode {
  const { language } = usePlace();
  if (typeof value === 'string') return <TextValue workspace={workspace} text={value} />;
  if (typeof value === 'number') return <span className="number">{numberText(value, language)}</span>;
  if (typeof value === 'boolean') return t(value ? 'ads.yes' : 'ads.no');
  if (Array.isArray(value))
    return (
      <>
        {value.map((each, at) => (
          <span key={at}>
            {at > 0 && ', '}
            <AttributeValue workspace={workspace} value={each} />
          </span>
        ))}
      </>
    );
  if (typeof value !== 'object' || value === null) return null;
  const { amount_micros: micros, currency, start, end } = value as Readonly<Record<string, unknown>>;
  if (typeof micros === 'string')
    return <span className="number">{moneyText(micros, String(currency), language)}</span>;
  if (typeof start === 'string' && typeof end === 'string')
    return (
      <span>
        <Time at={start} form="moment" /> – <Time at={end} form="moment" />
      </span>
    );
  return (
    <ul className={styles.inside}>
      {saying(value as Attributes, []).map(([name, each]) => (
        <li key={name}>
          <span>{fieldName(name)}</span> <AttributeValue workspace={workspace} value={each} />
        </li>
      ))}
    </ul>
  );
}

/** Attributes that say something. */
const saying = (attributes: Attributes, without: readonly string[]) =>
  Object.entries(attributes).filter(([name, value]) => !without.includes(name) && !isEmpty(value));

/** Attributes that say something, each with its name. */
export const AttributePairs = ({
  workspace,
  attributes,
  without = [],
}: {
  readonly workspace: string;
  readonly attributes: Attributes;
  readonly without?: readonly string[];
}) => (
  <dl className={styles.facts}>
    {saying(attributes, without).map(([name, value]) => (
      <div key={name}>
        <dt>{fieldName(name)}</dt>
        <dd>
          <AttributeValue workspace={workspace} value={value} />
        </dd>
      </div>
    ))}
  </dl>
);
