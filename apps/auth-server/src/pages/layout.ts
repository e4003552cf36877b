import type { Session } from '../sessions/session.ts';
import { formTokenField } from './form-fields.ts';
import { html, type Html } from './html.ts';

/** The pages of the settings, in the order of their navigation. */
const settingsTabs = {
  profile: { path: '/settings', name: 'Profile' },
  api: { path: '/settings/api', name: 'API' },
  members: { path: '/settings/members', name: 'Members' },
  connectors: { path: '/settings/connectors', name: 'Connectors' },
  security: { path: '/settings/security', name: 'Security' },
} as const;
export type SettingsTab = keyof typeof settingsTabs;

/** The page of the settings that a form belongs to: the path of the form itself has no page. */
export const settingsPathOf = (formPath: string): string =>
  Object.values(settingsTabs).findLast(({ path }) => formPath.startsWith(`${path}/`))?.path ??
  settingsTabs.profile.path;

/** A page without its frame. */
export interface Page {
  readonly title: string;
  /** Begins with the heading. */
  readonly body: Html;
  /** Default: 200. */
  readonly status?: number;
  /** The page of the settings that this is; absent: a page of its own, as for signing in. */
  readonly tab?: SettingsTab;
  /** Origins to which a form of this page leads after it was answered, as consent does; absent: none but our own. */
  readonly formAction?: readonly string[];
}

export interface Frame {
  readonly lookPath: string;
  readonly session: Session | undefined;
  readonly formToken: string;
}

const brand = html`<a class="brand" href="/"
  ><svg
    width="24"
    height="24"
    viewBox="0 0 24 24"
    fill="none"
    stroke-width="2.2"
    stroke-linecap="round"
    aria-hidden="true"
  >
    <path d="M1.5 12c2.2 0 2.6-7 5.2-7s3 14 5.6 14 3-10 5.2-10 2.3 3 5 3" /></svg
  >Longwave</a
>`;

const navigation = (current: SettingsTab) =>
  html`<nav class="tabs" aria-label="Settings">
    <ul>
      ${Object.entries(settingsTabs).map(
        ([tab, { path, name }]) =>
          html`<li><a href="${path}" ${tab === current && html`aria-current="page"`}>${name}</a></li>`,
      )}
    </ul>
  </nav>`;

/** The person, and the account in which the person works when it has another name. */
const whoText = ({ user, account }: Session) =>
  html`<span>${user.name !== account.name && `${user.name}, `}<a href="/sign-in/account">${account.name}</a></span>`;

const settingsFrame = ({ body, tab = 'profile' }: Page, { session, formToken }: Frame) =>
  html`<header class="top">
      ${brand}
      <div class="who">
        ${session && whoText(session)}
        <form class="inline" method="post" action="/sign-out">
          ${formTokenField(formToken)}<button class="quiet">Sign out</button>
        </form>
      </div>
    </header>
    <div class="wide">
      ${navigation(tab)}
      <main id="main">${body}</main>
    </div>`;

const narrowFrame = ({ body }: Page) =>
  html`<div class="narrow">
    <header>${brand}</header>
    <main class="card" id="main">${body}</main>
  </div>`;

/** The whole document of a page. */
export const renderPage = (page: Page, frame: Frame): string =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${page.title} · Longwave</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="${frame.lookPath}" />
      </head>
      <body>
        <a class="skip" href="#main">Skip to the content</a>
        ${page.tab === undefined ? narrowFrame(page) : settingsFrame(page, frame)}
      </body>
    </html> `.text;

/** The headers of every page: no script, no frame, nothing from or to another host, and no copy kept. */
export const pageHeaders = ({ formAction = [] }: Page): Readonly<Record<string, string>> => ({
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-store',
  'Content-Security-Policy': [
    "default-src 'none'",
    "style-src 'self'",
    "font-src 'self'",
    'img-src data:',
    `form-action ${["'self'", ...formAction].join(' ')}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'Cross-Origin-Opener-Policy': 'same-origin',
  // Not no-referrer: a browser then sends the forms of a page with `Origin: null`.
  'Referrer-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
});
