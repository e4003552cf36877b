import { expect, test } from '@jest/globals';
import type { ResourceRow } from '@longwave/command-pipeline';
import { mapIds } from './map-ids.ts';

const lineItem = (id: string, external: readonly string[]) =>
  ({
    id,
    attributes: { external_ids: external.map((one) => ({ source: 'gam', id: one })) },
  }) as ResourceRow<'line_items'>;

test('our own id stands for what has it, whatever others are called; an id of the source stands for all that have it', () => {
  const lineItems = [lineItem('li_1', ['li_2', 'both']), lineItem('li_2', ['both'])];
  const map = mapIds('gam', { lineItems, campaigns: [], creatives: [] }).lineItems;
  expect(Object.fromEntries(map)).toEqual({ li_1: ['li_1'], li_2: ['li_2'], both: ['li_1', 'li_2'] });
});
