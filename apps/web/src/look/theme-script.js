// Runs before the first paint (vite/theme-script.ts); `setTheme` stores the value. No storage: the theme of the system.
try {
  const theme = localStorage.getItem('theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // Storage can be switched off.
}
