import { z } from 'zod';
import { parseAddressRange } from './address-set.ts';

/** A setting of addresses or `address/bits`, separated by commas; none by default. */
export const addressRangesSetting = z
  .string()
  .default('')
  .transform((text, context) => {
    try {
      return text
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== '')
        .map(parseAddressRange);
    } catch {
      context.addIssue({ code: 'custom', message: 'expected addresses or address/bits, separated by commas' });
      return z.NEVER;
    }
  })
  .meta({ kind: 'address ranges' });
