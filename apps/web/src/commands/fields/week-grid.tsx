import { useEffect, useId, useRef, useState, type KeyboardEvent } from 'react';
import { currentLanguage, t } from '../../messages/messages.ts';
import { classes } from '../../look/classes.ts';
import { dayHours, hourAfterKey, hoursOfWeek, withHours, type WeekHours } from './week-hours.ts';
import styles from './week-grid.module.css';

/** A Monday: its week gives the days their names. */
const monday = Date.UTC(2024, 0, 1);
const dayNames = (language: string, length: 'short' | 'long') =>
  Array.from({ length: 7 }, (_, day) =>
    new Intl.DateTimeFormat(language, { weekday: length, timeZone: 'UTC' }).format(monday + day * 86_400_000),
  );

/**
 * The hours of a week, a row each day: a click or Space turns an hour on or off, drawing over hours does so with all of them, the name of a day with the
 * whole day; arrows, Home and End move.
 */
export function WeekGrid({
  label,
  hours,
  onChange,
  describedBy,
}: {
  readonly label: string;
  readonly hours: WeekHours;
  readonly onChange: (hours: WeekHours) => void;
  readonly describedBy?: string | undefined;
}) {
  const id = useId();
  const grid = useRef<HTMLTableElement>(null);
  const [at, setAt] = useState(hours[0] ?? 0);
  // What is drawn with, while the pointer is down.
  const drawing = useRef<boolean | undefined>(undefined);
  const chosen = new Set(hours);
  const language = currentLanguage();
  const [short, long] = [dayNames(language, 'short'), dayNames(language, 'long')];
  // Hours that are drawn over may come faster than the grid is drawn.
  const latest = useRef(hours);
  useEffect(() => void (latest.current = hours), [hours]);
  const set = (more: WeekHours, isOn: boolean) => {
    latest.current = withHours(latest.current, more, isOn);
    onChange(latest.current);
  };
  const turn = (hour: number) => set([hour], !chosen.has(hour));
  const onKeyDown = (event: KeyboardEvent, hour: number) => {
    if (event.key === ' ' || event.key === 'Enter') turn(hour);
    const next = hourAfterKey(hour, event.key);
    if (next !== undefined) {
      setAt(next);
      grid.current?.querySelector<HTMLElement>(`[data-hour="${next}"]`)?.focus();
    }
    if (next !== undefined || event.key === ' ' || event.key === 'Enter') event.preventDefault();
  };
  const cell = (day: number, hour: number) => (
    <td
      key={hour}
      role="gridcell"
      data-hour={hour}
      className={classes(styles.cell, chosen.has(hour) && styles.on)}
      aria-selected={chosen.has(hour)}
      aria-label={`${long[day]} ${hour % 24}:00`}
      tabIndex={hour === at ? 0 : -1}
      onFocus={() => setAt(hour)}
      onKeyDown={(event) => onKeyDown(event, hour)}
      onPointerDown={(event) => {
        event.currentTarget.releasePointerCapture(event.pointerId);
        drawing.current = !chosen.has(hour);
        turn(hour);
      }}
      onPointerEnter={({ buttons }) => {
        if (buttons === 1 && drawing.current !== undefined) set([hour], drawing.current);
      }}
    />
  );
  return (
    <div className={styles.frame}>
      <table
        ref={grid}
        role="grid"
        className={styles.grid}
        aria-label={label}
        aria-multiselectable="true"
        aria-describedby={classes(`${id}-sum`, describedBy)}
        onPointerLeave={() => (drawing.current = undefined)}
        onPointerUp={() => (drawing.current = undefined)}
      >
        <tbody>
          {short.map((name, day) => (
            <tr key={name}>
              <th scope="row">
                <button
                  type="button"
                  className={styles.day}
                  aria-label={t('ads.whole_day', { day: name })}
                  onClick={() =>
                    set(
                      dayHours(day),
                      dayHours(day).some((hour) => !chosen.has(hour)),
                    )
                  }
                >
                  {name}
                </button>
              </th>
              {dayHours(day).map((hour) => cell(day, hour))}
            </tr>
          ))}
        </tbody>
      </table>
      <div className={styles.scale} aria-hidden>
        {[0, 6, 12, 18].map((hour) => (
          <span key={hour}>{hour}:00</span>
        ))}
      </div>
      <p id={`${id}-sum`} className={styles.sum}>
        {t('ads.hours_of_week', { hours: hours.length, all: hoursOfWeek })}
      </p>
    </div>
  );
}
