import { t } from '../../messages/messages.ts';
import { Field } from '../field.tsx';
import { isWebAddress } from './text-checks.ts';

/** The address of a page or a feed, for a form that sends nothing else of its own; says at once when it can be none. */
export const WebAddressField = ({
  label,
  hint,
  value,
  onChange,
}: {
  readonly label: string;
  readonly hint?: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}) => (
  <Field
    label={label}
    hint={hint}
    error={value !== '' && !isWebAddress(value.trim()) ? t('form.web_address') : undefined}
    required
  >
    {(control) => (
      <input
        {...control}
        type="url"
        autoComplete="off"
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    )}
  </Field>
);
