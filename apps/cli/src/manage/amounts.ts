import { formatAmount, microsPerMinorUnit } from '@longwave/money';
import { z } from 'zod';

const micros = z.string().regex(/^-?\d{1,36}$/);
const money = z.looseObject({ amount_micros: micros, currency: z.string() });
/** Of another form, a field has no amount for people. */
const amount = money.optional().catch(undefined);
const priced = z.looseObject({
  ...{ budget: amount, floor: amount, min_cpm: amount, value: amount },
  rate: z.looseObject({ model: z.string(), price: money }).optional().catch(undefined),
  total_micros: micros.optional().catch(undefined),
  inputs: z.looseObject({ currency: z.string() }).optional().catch(undefined),
});

/** An amount with all its digits: a price may be finer than the smallest coin. */
function exactAmount({ amount_micros: text, currency }: z.infer<typeof money>): string {
  const exact = BigInt(text);
  if (exact % microsPerMinorUnit(currency) === 0n) return `${formatAmount(exact, currency)} ${currency}`;
  const digits = (exact < 0n ? -exact : exact).toString().padStart(7, '0');
  const fraction = digits.slice(-6).replace(/0+$/, '');
  return `${exact < 0n ? '-' : ''}${digits.slice(0, -6)}.${fraction} ${currency}`;
}

/** The amounts of money in the attributes of a resource, for people: "budget 5000.00 EUR", "18.00 EUR cpm"; empty where it has none. */
export function amountsIn(attributes: object): string {
  const { rate, total_micros: total, inputs, ...others } = priced.parse(attributes);
  const named = (['budget', 'floor', 'min_cpm', 'value'] as const).flatMap((name) => {
    const found = others[name];
    return found ? [`${name} ${exactAmount(found)}`] : [];
  });
  return [
    ...named,
    ...(rate ? [`${exactAmount(rate.price)} ${rate.model}`] : []),
    ...(total !== undefined && inputs
      ? [`total ${exactAmount({ amount_micros: total, currency: inputs.currency })}`]
      : []),
  ].join(', ');
}
