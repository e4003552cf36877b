import type { SenderOf } from '@longwave/audience';
import { admitCookie } from '@longwave/principal';
import { Problem } from '@longwave/problems';
import type { Request, Response } from 'express';
import { formTokenName } from '../pages/form-fields.ts';
import { pageHeaders, renderPage, settingsPathOf, type Frame, type Page } from '../pages/layout.ts';
import { isFresh } from '../sessions/session.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { withReturn } from '../sign-in/local-path.ts';
import { formTokenOf, isFormToken } from './form-token.ts';
import type { PageAnswer, PageRoute, Visit } from './page-route.ts';
import { readForm } from './read-form.ts';

export interface PageDeps {
  readonly sessions: Sessions;
  /** Address of the style sheet. */
  readonly lookPath: string;
  readonly baseUrl: string;
  readonly senderOf: SenderOf;
  readonly clock: () => Date;
}

const forged = () =>
  new Problem(
    'permission_denied',
    'This form did not come from its own page, or is too old. Open the page and send it again.',
  );

/** Sends a page with its frame and headers. */
export function sendPage(response: Response, page: Page, frame: Frame): void {
  response
    .status(page.status ?? 200)
    .set(pageHeaders(page))
    .send(renderPage(page, frame));
}

/** A longer address is not come back to in full: answers with it in a header would be too long for proxies. */
const maxReturnLength = 2_000;

/** Where a person without the access that a route needs goes first; undefined with it. */
function detourOf({ access, method }: PageRoute, { request, session, now }: Visit): string | undefined {
  const asked = request.originalUrl.length > maxReturnLength ? request.path : request.originalUrl;
  const path = method === 'GET' ? asked : settingsPathOf(request.path);
  if (access === 'anyone') return undefined;
  if (!session) return withReturn('/sign-in', path);
  return access === 'password' && !isFresh(session, now) ? withReturn('/sign-in/password', path) : undefined;
}

function sendAnswer(answer: PageAnswer, response: Response, frame: Frame): void {
  if (!answer) return;
  for (const cookie of answer.setCookies ?? []) response.append('Set-Cookie', cookie);
  if ('redirect' in answer)
    response.set({ 'Cache-Control': 'no-store', ...answer.headers }).redirect(303, answer.redirect);
  else sendPage(response, answer, frame);
}

/**
 * Answers a route: session, for a form that it came from our own page, access, then the route's own work. A session alone never makes a
 * change, because any site can make a browser send it.
 */
export const createAnswerPage =
  ({ sessions, lookPath, baseUrl, senderOf, clock }: PageDeps) =>
  async (route: PageRoute, request: Request, response: Response): Promise<void> => {
    const session = await sessions.find(request);
    const formToken = formTokenOf(request, session && sessions.textOf(request), baseUrl);
    if (formToken.setCookie) response.append('Set-Cookie', formToken.setCookie);
    const frame = { lookPath, session, formToken: formToken.token };
    const visit = { request, response, session, formToken: formToken.token, now: clock(), sender: senderOf(request) };
    if (!route.form) {
      const page = { ...visit, texts: {} };
      const detour = detourOf(route, page);
      return sendAnswer(detour ? { redirect: detour } : await route.answer(page, undefined as never), response, frame);
    }
    if (!admitCookie(request.headers, baseUrl)) throw forged();
    const { [formTokenName]: sent, ...texts } = await readForm(request, response);
    const isConsole = route.isOfConsole === true && sent === undefined;
    if (!isConsole && !isFormToken(sent, formToken)) throw forged();
    const detour = detourOf(route, { ...visit, texts });
    const form = route.form.safeParse(texts) as never;
    sendAnswer(detour ? { redirect: detour } : await route.answer({ ...visit, texts }, form), response, frame);
  };
