/** Ends the session as the form of the account pages does: by a POST of the browser itself, which then empties its store and shows the way to sign in. */
export function signOut(): void {
  const form = document.createElement('form');
  form.method = 'post';
  form.action = '/sign-out';
  document.body.append(form);
  form.submit();
}
