import type { Attributes } from '@longwave/command-catalog';
import type { FieldError } from '@longwave/problems';
import type { LineItem } from '../line-items/line-item.ts';
import type { Coverage } from '../serving-plans/plan-targeting.ts';

type Product = Attributes<'products'>;
type RateCard = Attributes<'rate_cards'>;
/** An assigned creative: its production and its length in milliseconds, once it is known. */
export type PricedCreative = Pick<Attributes<'creatives'>, 'production' | 'duration_ms'>;

/** The terms under which a line item is sold. */
export interface ProductTerms {
  readonly product: Product;
  /** What the product's inventory units cover. */
  readonly coverage: Coverage;
  readonly rateCard: RateCard;
}

const dayMs = 86_400_000;
const deviation = (path: string, code: string, detail: string): FieldError => ({
  path: `/attributes/${path}`,
  code,
  detail,
});

function* typeDeviations({ type }: LineItem, { delivery }: Product) {
  const sold = type === 'non_guaranteed' ? 'non_guaranteed' : type === 'house' ? undefined : 'guaranteed';
  if (sold !== delivery) yield deviation('type', 'other_delivery', `The product sells ${delivery} delivery.`);
}

function* placeDeviations({ break_positions: positions, targeting }: LineItem, { product, coverage }: ProductTerms) {
  if (!positions.every((position) => product.positions.includes(position)))
    yield deviation('break_positions', 'other_positions', `The product sells ${product.positions.join(', ')}.`);
  if (product.inventory_unit_ids.length === 0 || coverage.everything) return;
  const units = targeting.inventory?.include ?? [];
  const podcasts = 'include' in (targeting.podcasts ?? []) ? (targeting.podcasts as { include: string[] }).include : [];
  const outside =
    units.some((id) => !product.inventory_unit_ids.includes(id)) ||
    podcasts.some((id) => !coverage.podcasts.includes(id));
  if (outside || units.length + podcasts.length === 0)
    yield deviation('targeting', 'other_inventory', 'Target inventory units or podcasts of the product alone.');
}

function* windowDeviations({ window }: LineItem, { product, rateCard }: ProductTerms) {
  const start = Date.parse(window.start);
  const days = (Date.parse(window.end) - start) / dayMs;
  const { min_flight_days: min = 0, max_flight_days: max = Infinity } = product;
  if (days < min || days > max)
    yield deviation('window', 'other_length', `The product sells flights of ${min} to ${max} days.`);
  const { valid_window: valid } = rateCard;
  if (start < Date.parse(valid.start) || start >= Date.parse(valid.end))
    yield deviation('window/start', 'not_priced', 'The rate card of the product has no prices for this time.');
}

function* priceDeviations(
  { rate, break_positions: positions, makegood_of: makegoodOf }: LineItem,
  creatives: readonly PricedCreative[],
  { entries, currency }: RateCard,
) {
  if (makegoodOf !== undefined && rate.model === 'none') return;
  if (rate.price && rate.price.currency !== currency)
    yield deviation('rate/price/currency', 'wrong_currency', `The rate card is in ${currency}.`);
  const wanted = positions.flatMap((position) => creatives.map((creative) => ({ position, ...creative })));
  if (creatives.some((creative) => creative.duration_ms === undefined))
    yield deviation(
      'rate',
      'length_unknown',
      'The price depends on the length of the creative: prepare its audio first.',
    );
  for (const { position, production, duration_ms: durationMs } of wanted) {
    if (durationMs === undefined) continue;
    const [entry] = entries
      .filter((one) => one.position === position && one.production === production && one.model === rate.model)
      .filter((one) => one.max_duration_ms >= durationMs)
      .sort((a, b) => a.max_duration_ms - b.max_duration_ms);
    const ad = `${position}, ${production}, ${durationMs} ms`;
    if (!entry) yield deviation('rate/model', 'not_priced', `The rate card has no ${rate.model} price for: ${ad}.`);
    else if (BigInt(rate.price?.amount_micros ?? 0) < BigInt(entry.price))
      yield deviation(
        'rate/price',
        'below_rate_card',
        `The rate card asks for ${entry.price} ${currency} micros: ${ad}.`,
      );
  }
}

/** Everything in which a line item departs from the product under which it is sold; nothing when it may be booked. */
export function productDeviations(
  lineItem: LineItem,
  creatives: readonly PricedCreative[],
  terms: ProductTerms,
): readonly FieldError[] {
  return [
    ...typeDeviations(lineItem, terms.product),
    ...placeDeviations(lineItem, terms),
    ...windowDeviations(lineItem, terms),
    ...priceDeviations(lineItem, creatives, terms.rateCard),
  ];
}
