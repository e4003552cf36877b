import { Search } from 'lucide-react';
import { useId, type ReactNode } from 'react';
import { Icon } from './icon.tsx';
import styles from './field.module.css';

/** What a control of a field takes over: its name for `<label>`, its hint and error for screen readers. */
export interface FieldControl {
  readonly id: string;
  readonly className: string;
  readonly 'aria-describedby': string | undefined;
  readonly 'aria-invalid': true | undefined;
  readonly required: boolean;
}

/**
 * A control with its label, hint and error: `<Field label="Title">{(control) => <input {...control} />}</Field>`.
 * @param error the sentence of the check or of the server, beside the field that it is about
 */
export function Field({
  label,
  hint,
  error,
  required = false,
  children,
}: {
  readonly label: string;
  readonly hint?: string | undefined;
  readonly error?: ReactNode | undefined;
  readonly required?: boolean;
  readonly children: (control: FieldControl) => ReactNode;
}) {
  const id = useId();
  const described = [hint !== undefined && `${id}-hint`, error !== undefined && `${id}-error`].filter(Boolean);
  return (
    <div className={styles.field}>
      <label className={styles.label} htmlFor={id}>
        {label}
      </label>
      {children({
        id,
        className: styles.control ?? '',
        'aria-describedby': described.length > 0 ? described.join(' ') : undefined,
        'aria-invalid': error === undefined ? undefined : true,
        required,
      })}
      {hint !== undefined && (
        <span className={styles.hint} id={`${id}-hint`}>
          {hint}
        </span>
      )}
      {error !== undefined && (
        <span className={styles.error} id={`${id}-error`}>
          {error}
        </span>
      )}
    </div>
  );
}

/** Searches a list while one types. Its name is not shown: the magnifier and the words inside say it. */
export function SearchField({
  name,
  value,
  onChange,
}: {
  readonly name: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}) {
  return (
    <span className={styles.search}>
      <Icon of={Search} size={15} />
      <input
        type="search"
        className={styles.control}
        aria-label={name}
        placeholder={name}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    </span>
  );
}
