import { Link } from '@tanstack/react-router';
import { useHasRole } from '../../api/me.ts';
import { t } from '../../messages/messages.ts';
import { buttonClass } from '../../parts/button.tsx';

/** The two ways to a first podcast, for whoever may make one. */
export function FirstSteps() {
  if (!useHasRole('owner')) return null;
  return (
    <>
      <Link className={buttonClass({ kind: 'primary' })} to="/podcasts/new">
        {t('new_podcast.title')}
      </Link>{' '}
      <Link className={buttonClass()} to="/podcasts/import">
        {t('import.title')}
      </Link>
    </>
  );
}
