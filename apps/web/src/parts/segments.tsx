import { t, type MessageKey } from '../messages/messages.ts';
import styles from './segments.module.css';

/** One of a few values, all of them in sight. */
export const Segments = <Value extends string>({
  name,
  value,
  choices,
  onChange,
}: {
  readonly name: string;
  readonly value: Value;
  readonly choices: readonly { readonly value: Value; readonly name: MessageKey }[];
  readonly onChange: (value: Value) => void;
}) => (
  <div className={styles.segments} role="group" aria-label={name}>
    {choices.map((choice) => (
      <button
        key={choice.value}
        type="button"
        aria-pressed={choice.value === value}
        onClick={() => onChange(choice.value)}
      >
        {t(choice.name)}
      </button>
    ))}
  </div>
);
