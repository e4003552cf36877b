import { useQuery } from '@tanstack/react-query';
import { resourcesQuery } from '../../api/management.ts';
import { t } from '../../messages/messages.ts';
import { Card } from '../../parts/card.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { AttributePairs } from './attribute-value.tsx';

/** Which plan decides now, and that nothing serves without one. */
export function ServingNote({ workspace }: { readonly workspace: string }) {
  const query = useQuery(resourcesQuery(workspace, 'serving_plans', { state: 'published' }));
  return (
    <Card title={t('ads.served_by')}>
      <Loaded query={query} lines={2}>
        {([plan]) =>
          plan ? (
            <AttributePairs
              workspace={workspace}
              attributes={{
                effective_from: plan.attributes['effective_from'],
                ...(plan.attributes['counts'] as object),
              }}
            />
          ) : (
            <p>{t('ads.nothing_serves')}</p>
          )
        }
      </Loaded>
    </Card>
  );
}
