import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { resourceQuery, type Attributes } from '../../api/management.ts';
import { useWorkspace } from '../../api/me.ts';
import { nameOf } from '../../commands/name-of.ts';
import { attributeName, choiceName } from '../../commands/words.ts';
import { typesByPrefix } from '../../generated/forms/index.ts';
import { t } from '../../messages/messages.ts';
import { numberText } from '../../parts/format.ts';
import { moneyText } from '../../parts/money-text.ts';
import { Time } from '../../parts/time.tsx';
import { usePlace } from '../../shell/place.ts';
import { attributeLength } from './attribute-length.ts';
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

/** Whether a value stands on lines of its own: a period and an amount do not. */
const isBlock = (value: unknown) =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !('amount_micros' in value) &&
  !('start' in value && 'end' in value);

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
    return value.some(isBlock) ? (
      <ul className={styles.each}>
        {value.map((each, at) => (
          <li key={at}>
            <AttributeValue workspace={workspace} value={each} />
          </li>
        ))}
      </ul>
    ) : (
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
  const inside = saying(value as Attributes, []);
  const [[only, kind] = []] = inside;
  if (inside.length === 1 && only === 'kind') return <AttributeValue workspace={workspace} value={kind} />;
  return (
    <ul className={styles.inside}>
      {inside.map(([name, each]) => (
        <li key={name}>
          <span>{attributeName(name)}</span> <NamedValue {...{ workspace, name }} value={each} />
        </li>
      ))}
    </ul>
  );
}

/** The value of an attribute as its name asks: a length as a length, the least amount of a rule in the workspace’s currency. */
function NamedValue({
  workspace,
  name,
  value,
}: {
  readonly workspace: string;
  readonly name: string;
  readonly value: unknown;
}) {
  const { language } = usePlace();
  const currency = useWorkspace(workspace)?.currency;
  if (name === 'min_amount_micros' && typeof value === 'string' && currency !== undefined)
    return <span className="number">{moneyText(value, currency, language)}</span>;
  const length = attributeLength(name, value, language);
  return length === undefined ? <AttributeValue {...{ workspace, value }} /> : <span className="number">{length}</span>;
}

/** Attributes that say something; `unknown` is the Ad-ID of an ad that has none. */
const saying = (attributes: Attributes, without: readonly string[]) =>
  Object.entries(attributes).filter(
    ([name, value]) =>
      !without.includes(name) && !isEmpty(value) && !(name === 'universal_ad_id' && value === 'unknown'),
  );

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
        <dt>{attributeName(name)}</dt>
        <dd>
          <NamedValue {...{ workspace, name, value }} />
        </dd>
      </div>
    ))}
  </dl>
);
