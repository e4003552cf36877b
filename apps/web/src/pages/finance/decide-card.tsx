import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { CommandForm } from '../../commands/command-form.tsx';
import type { CommandForm as Form } from '../../commands/type-forms.ts';
import { choiceName } from '../../commands/words.ts';
import { t } from '../../messages/messages.ts';
import { Button } from '../../parts/button.tsx';
import { Card, Pairs } from '../../parts/card.tsx';
import { changeText, numberText } from '../../parts/format.ts';
import { usePlace } from '../../shell/place.ts';
import { ResourceName } from '../ads/attribute-value.tsx';
import { tellOutcome } from '../ads/resource-actions.tsx';
import type { PageOf } from './finance-resource.tsx';
import type { Item } from './items.ts';
import { Day, signed } from './items-card.tsx';
import styles from './finance.module.css';

/** The form of a command with some of its fields fixed: these are sent, and not asked. */
export const withFixed = (form: Form, fixed: Readonly<Record<string, string | number>>): Form => ({
  ...form,
  schema: {
    ...form.schema,
    properties: {
      ...form.schema.properties,
      ...Object.fromEntries(Object.entries(fixed).map(([name, value]) => [name, { const: value }])),
    },
  },
});

/** One item with both numbers, and what a person decides about it. */
export function DecideCard({
  page: { workspace, resource },
  form,
  item,
}: {
  readonly page: PageOf;
  readonly form: Form;
  readonly item: Item;
}) {
  const { language } = usePlace();
  const navigate = useNavigate();
  const place = useRef<HTMLDivElement>(null);
  const { id } = resource;
  const close = () =>
    navigate({
      ...{ to: '/w/$ws/$type/$id', params: { ws: workspace.id, type: 'reconciliations', id } },
      ...{ search: {}, resetScroll: false },
    });
  // It opens above the list: whoever chose a row far below is taken to it.
  useEffect(() => place.current?.querySelector<HTMLElement>('select, input, textarea')?.focus(), [item.item_id]);
  const share = item.delta_pct === null ? '' : ` (${changeText(item.delta_pct / 100, language)})`;
  return (
    <div ref={place}>
      <Card title={t('finance.decide')} end={<Button onClick={() => void close()}>{t('finance.decide_later')}</Button>}>
        <div className={styles.decide}>
          <Pairs
            of={[
              [t('field.line_item_id'), <ResourceName workspace={workspace.id} id={item.line_item_id} />],
              [t('field.day'), <Day of={item.day} />],
              [t('finance.source'), item.source],
              [t('finance.ours'), `${numberText(item.ours, language)} · ${choiceName(item.ours_basis)}`],
              [t('finance.theirs'), `${numberText(item.theirs, language)} · ${choiceName(item.theirs_basis)}`],
              [t('finance.delta'), `${signed(item.delta, language)}${share}`],
            ]}
          />
          <CommandForm
            {...{ workspace, type: 'reconciliations', form: withFixed(form, { item_id: item.item_id }) }}
            resource={resource}
            start={{ item_id: item.item_id }}
            draftId={`${workspace.id}:${form.type}:${id}:${item.item_id}`}
            onDone={async (operation) => {
              tellOutcome(operation);
              await close();
            }}
          />
        </div>
      </Card>
    </div>
  );
}
