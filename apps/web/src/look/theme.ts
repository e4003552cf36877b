/** What a person chose; `system` follows the device. */
export type Theme = 'system' | 'light' | 'dark';

/** The chosen theme, as `look/theme-script.js` applied it before the first paint. */
export const currentTheme = (): Theme => (document.documentElement.dataset.theme as Theme | undefined) ?? 'system';

/** Applies a theme and keeps it for the next visit; without storage it lasts until the page is left. */
export function setTheme(theme: Theme): void {
  const { dataset } = document.documentElement;
  if (theme === 'system') delete dataset.theme;
  else dataset.theme = theme;
  try {
    if (theme === 'system') localStorage.removeItem('theme');
    else localStorage.setItem('theme', theme);
  } catch {
    // Storage can be switched off.
  }
}
