import { Check, type LucideIcon } from 'lucide-react';
import { useId, useRef, type KeyboardEvent, type ReactNode } from 'react';
import { classes } from '../look/classes.ts';
import { Icon } from './icon.tsx';
import styles from './menu.module.css';

/** One entry of a menu: it does something, leads to an address of another page, or is one of several choices. */
export interface MenuEntry {
  readonly name: string;
  readonly icon?: LucideIcon;
  readonly href?: string;
  readonly onChoose?: () => void;
  /** For a choice: whether it is the current one. */
  readonly isCurrent?: boolean;
}

const entriesOf = (menu: Element | null) => [...(menu?.querySelectorAll<HTMLElement>('[role^=menuitem]') ?? [])];

/** Arrow keys, Home and End move inside an open menu. */
function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const entries = entriesOf(event.currentTarget);
  const at = entries.indexOf(document.activeElement as HTMLElement);
  const places: Readonly<Record<string, number>> = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 };
  const place = places[event.key];
  if (place === undefined) return;
  event.preventDefault();
  entries.at(place % entries.length)?.focus();
}

function Entry({ entry, close }: { readonly entry: MenuEntry; readonly close: () => void }) {
  const { name, icon, href, onChoose, isCurrent } = entry;
  const words = (
    <>
      {icon && <Icon of={icon} />}
      {name}
      {isCurrent && (
        <span className={styles.check}>
          <Icon of={Check} size={14} />
        </span>
      )}
    </>
  );
  if (href !== undefined)
    return (
      <a role="menuitem" tabIndex={-1} className={styles.entry} href={href}>
        {words}
      </a>
    );
  const choose = () => {
    close();
    onChoose?.();
  };
  const role = isCurrent === undefined ? 'menuitem' : 'menuitemradio';
  return (
    <button type="button" role={role} aria-checked={isCurrent} tabIndex={-1} className={styles.entry} onClick={choose}>
      {words}
    </button>
  );
}

/**
 * A button with a menu, as a popover of the platform: Escape and a click beside it close it, and it stands above everything.
 * @param above whether it opens upwards, as at the foot of the rail
 */
export function Menu({
  name,
  buttonName,
  buttonId,
  className,
  button,
  entries,
  above = false,
}: {
  /** What a screen reader says of the menu. */
  readonly name: string;
  /** What it says of a button that shows an icon alone. */
  readonly buttonName?: string;
  /** For whoever gives the button the focus. */
  readonly buttonId?: string;
  readonly className: string;
  readonly button: ReactNode;
  readonly entries: readonly MenuEntry[];
  readonly above?: boolean;
}) {
  const id = useId();
  const menu = useRef<HTMLDivElement>(null);
  const close = () => menu.current?.hidePopover();
  return (
    <>
      <button
        type="button"
        id={buttonId}
        className={className}
        popoverTarget={id}
        aria-haspopup="menu"
        aria-label={buttonName}
      >
        {button}
      </button>
      <div
        ref={menu}
        id={id}
        popover="auto"
        role="menu"
        tabIndex={-1}
        aria-label={name}
        className={classes(styles.menu, above && styles.wide)}
        onKeyDown={moveFocus}
        onToggle={(event) => event.newState === 'open' && entriesOf(menu.current)[0]?.focus()}
      >
        {entries.map((entry) => (
          <Entry key={entry.name} entry={entry} close={close} />
        ))}
      </div>
    </>
  );
}
