import { showPage, type PageRoute } from '../http/page-route.ts';
import { html } from '../pages/html.ts';

/** Who is signed in. */
export const profileRoutes: readonly PageRoute[] = [
  showPage('/settings', 'session', ({ session: { user, account } }) => ({
    title: 'Profile',
    tab: 'profile',
    body: html`<h1>Profile</h1>
      <section class="card">
        <dl class="pairs">
          <dt>Name</dt>
          <dd>${user.name}</dd>
          <dt>E-mail</dt>
          <dd>${user.email}</dd>
          <dt>Account</dt>
          <dd>${account.name}</dd>
        </dl>
      </section>`,
  })),
];
