import { diagnosticsPurposes, type DiagnosticsPurpose } from '@longwave/principal';
import { z } from 'zod';

const list = z.array(z.enum(diagnosticsPurposes)).min(1).max(diagnosticsPurposes.length);

/** The purposes in the parameter `purpose` of an authorization request, separated by spaces; undefined for any other text. */
export const parsePurposes = (text: string): readonly DiagnosticsPurpose[] | undefined =>
  list.safeParse(text.split(' ')).data;
