/**
 * Focuses, after a row of a list was removed, the row that took its place, else the last one, else what adds rows: the button that was pressed is gone.
 * @param list what `data-rows` of the list and `data-add` of what adds rows say
 * @param at the place of the removed row, from 0
 */
export const focusAfterRemoval = (list: string, at: number) =>
  requestAnimationFrame(() => {
    const rows = document.querySelectorAll(`[data-rows="${list}"] > [data-row]`);
    const next = rows[Math.min(at, rows.length - 1)]?.querySelector<HTMLElement>('input, select, textarea, button');
    (next ?? document.querySelector<HTMLElement>(`[data-add="${list}"]`))?.focus();
  });
