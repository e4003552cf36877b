import { z } from 'zod';
import type { Visit } from '../http/page-route.ts';
import { textField } from '../pages/form-fields.ts';
import type { Html } from '../pages/html.ts';
import { refuseThrottled, type Refusal } from '../pages/refusal.ts';
import type { CodeVerdict } from './check-code.ts';

/** A code of the app, or a recovery code, as a person types it. */
export const codeField = z.string().min(1).max(64);

/** The field for either. */
export const codeInput = (): Html =>
  textField({
    ...{ name: 'code', label: 'Code', autocomplete: 'one-time-code' },
    hint: 'The six digits that your app shows now, or one of your recovery codes.',
  });

const tooMany = 'There were too many codes. Try again later, or give a recovery code.';

/** The refusal of a code: the same for a wrong one and a used one. */
export const codeRefusalOf = (verdict: CodeVerdict, visit: Pick<Visit, 'response'>): Refusal =>
  verdict.outcome === 'throttled'
    ? refuseThrottled(tooMany, verdict.waitSeconds, visit)
    : { status: 422, message: 'This code is wrong, or was used already. Each works once: wait for the next one.' };
