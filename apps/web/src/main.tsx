import './look/tokens.css';
import './look/fonts.css';
import './look/base.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { createRoot } from 'react-dom/client';
import { createQueries } from './api/queries.ts';
import { loadTexts } from './messages/load-texts.ts';
import { chooseLanguage } from './messages/messages.ts';
import { createAppRouter } from './router.tsx';
import { startShell } from './routes.ts';
import { focusHeading } from './shell/focus-heading.ts';

const queries = createQueries();
// Both are on their way before the first component runs.
startShell(queries);
await loadTexts(chooseLanguage(navigator.languages));

const router = createAppRouter(queries);
focusHeading(router);
createRoot(document.getElementById('root') as HTMLElement).render(
  <QueryClientProvider client={queries}>
    <RouterProvider router={router} />
  </QueryClientProvider>,
);
