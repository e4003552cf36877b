import './look/tokens.css';
import './look/fonts.css';
import './look/base.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { createRoot } from 'react-dom/client';
import { createQueries } from './api/queries.ts';
import { meQuery } from './api/me.ts';
import { session } from './api/session.ts';
import { fetchTexts } from './messages/load-texts.ts';
import { chooseLanguage, activateTexts } from './messages/messages.ts';
import { createAppRouter } from './router.tsx';
import { startShell } from './routes.ts';
import { focusHeading } from './shell/focus-heading.ts';
import { SignedOutPage } from './shell/signed-out-page.tsx';

const queries = createQueries();
/** How long the first page waits for who is signed in, in milliseconds. */
const meWaitMs = 1000;

// Asked before all else: where nobody is signed in, every other question is refused too.
const ofBrowser = fetchTexts(chooseLanguage(navigator.languages));
const me = await Promise.race([
  queries.fetchQuery(meQuery).catch(() => undefined),
  new Promise<undefined>((resolve) => setTimeout(resolve, meWaitMs, undefined)),
]);
const language = chooseLanguage([...(me?.locale === undefined ? [] : [me.locale]), ...navigator.languages]);
const loaded = await ofBrowser;
const { texts } = loaded.language === language ? loaded : await fetchTexts(language);
document.documentElement.lang = language;
activateTexts(language, texts);

function startPages() {
  startShell(queries);
  const router = createAppRouter(queries);
  focusHeading(router);
  return (
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  );
}

createRoot(document.getElementById('root') as HTMLElement).render(
  session.isOver() ? <SignedOutPage hasEnded={false} /> : startPages(),
);
