import type { ButtonHTMLAttributes, ReactNode } from 'react';
import type { LucideIcon } from 'lucide-react';
import { classes } from '../look/classes.ts';
import { Icon } from './icon.tsx';
import styles from './button.module.css';

/** How much a button wants to be pressed. A page has one `primary` at most. */
type Kind = 'plain' | 'primary' | 'danger' | 'quiet';

interface Look {
  readonly kind?: Kind;
  readonly size?: 'normal' | 'small';
  /** Only an icon stands on it, and `aria-label` names it. */
  readonly square?: boolean;
}

/** The class of a button, also for a link that looks like one: `<Link className={buttonClass({ kind: 'primary' })} to="/">`. */
export const buttonClass = ({ kind = 'plain', size = 'normal', square = false }: Look = {}): string =>
  classes(
    styles.button,
    kind === 'primary' && styles.primary,
    kind === 'danger' && styles.danger,
    kind === 'quiet' && styles.quiet,
    size === 'small' && styles.small,
    square && styles.square,
  );

/**
 * A button that says what happens. While `busy` it keeps the focus and does nothing, as a disabled button would lose it.
 */
export function Button({
  kind,
  size,
  square,
  icon,
  busy = false,
  children,
  onClick,
  ...rest
}: Look &
  Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'className'> & {
    readonly icon?: LucideIcon;
    readonly busy?: boolean;
    readonly children?: ReactNode;
  }) {
  const look = { ...(kind && { kind }), ...(size && { size }), ...(square && { square }) };
  return (
    <button
      type="button"
      {...rest}
      className={buttonClass(look)}
      aria-disabled={busy || undefined}
      onClick={busy ? (event) => event.preventDefault() : onClick}
    >
      {icon && <Icon of={icon} size={size === 'small' ? 14 : 16} />}
      {children}
    </button>
  );
}
