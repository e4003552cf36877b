const mark = 'reloaded-for';

/** Whether an error says that a file of this build is gone, as after a new release. */
const isMissingFile = (error: unknown): boolean =>
  error instanceof Error && /dynamically imported module|module script failed|preload CSS/i.test(error.message);

/** Loads the page anew when a file of it is gone; once for each address, so that a file that stays away ends in an error page. Answers whether it does. */
export function reloadOnce(error: unknown): boolean {
  if (!isMissingFile(error) || sessionStorage.getItem(mark) === location.href) return false;
  sessionStorage.setItem(mark, location.href);
  location.reload();
  return true;
}
