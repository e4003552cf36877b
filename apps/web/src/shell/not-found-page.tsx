import { Link } from '@tanstack/react-router';
import { t } from '../messages/messages.ts';
import { buttonClass } from '../parts/button.tsx';
import { FullPage } from '../parts/problem.tsx';

/** An address that no page has. */
export const NotFoundPage = () => (
  <FullPage title={t('not_found.title')} help={t('not_found.help')}>
    <Link className={buttonClass({ kind: 'primary' })} to="/">
      {t('not_found.home')}
    </Link>
  </FullPage>
);
