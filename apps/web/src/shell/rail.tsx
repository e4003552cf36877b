import { useQuery } from '@tanstack/react-query';
import { Link, useMatches } from '@tanstack/react-router';
import { ChartNoAxesColumn, ChevronsUpDown, CircleUser, House, Mic, Settings, type LucideIcon } from 'lucide-react';
import { accountQuery } from '../api/account.ts';
import { useMe } from '../api/me.ts';
import { t } from '../messages/messages.ts';
import { capitalized } from '../parts/format.ts';
import { Icon } from '../parts/icon.tsx';
import { navigation } from '../root-route.ts';
import { AdPlaces, ReviewPlace, SetupPlace } from './ad-places.tsx';
import { Mark } from './mark.tsx';
import { PersonMenu } from './person-menu.tsx';
import styles from './rail.module.css';

const icons: Readonly<Record<(typeof navigation)[number]['place'], LucideIcon>> = {
  home: House,
  podcasts: Mic,
  analytics: ChartNoAxesColumn,
};

/** The account that the session works in; auth-server's page offers the others. */
function AccountCard() {
  const { data } = useQuery(accountQuery);
  const back = encodeURIComponent('/');
  return (
    <a className={styles.account} href={`/sign-in/account?return_to=${back}`}>
      <span className={styles.initial} aria-hidden>
        {data?.name[0]?.toUpperCase()}
      </span>
      <span className={styles.names}>
        <span className="hidden">{t('shell.account')}</span>
        <b>{data?.name}</b>
        <small>{data && t('shell.plan', { plan: capitalized(data.plan) })}</small>
      </span>
      <Icon of={ChevronsUpDown} size={14} />
    </a>
  );
}

/** The person at the screen, by name once it is known. */
function Person() {
  const name = useMe()?.name;
  return (
    <PersonMenu className={styles.place ?? ''}>
      <Icon of={CircleUser} />
      <span className={styles.person}>{name === undefined || name === '' ? t('shell.you') : name}</span>
    </PersonMenu>
  );
}

/** Where one can go: at the side, or as a bar at the foot of a narrow window. */
export function Rail() {
  const current = useMatches({
    select: (matches) => matches.findLast(({ staticData }) => staticData.place)?.staticData.place,
  });
  return (
    <header className={styles.rail}>
      <Link className={styles.brand} to="/">
        <Mark />
        Longwave
      </Link>
      <AccountCard />
      <nav className={styles.nav} aria-label={t('nav.main')}>
        <ul>
          {navigation.map(({ place, to, name }) => (
            <li key={place}>
              <Link
                to={to}
                className={styles.place}
                activeOptions={{ exact: true }}
                aria-current={place === current ? 'true' : undefined}
              >
                <Icon of={icons[place]} />
                {t(name)}
              </Link>
            </li>
          ))}
        </ul>
        <AdPlaces />
        <div className={styles.caption}>{t('nav.workspace')}</div>
        <ul>
          <ReviewPlace />
          <SetupPlace />
          <li>
            <a className={styles.place} href="/settings">
              <Icon of={Settings} />
              {t('nav.settings')}
            </a>
          </li>
        </ul>
      </nav>
      <div className={styles.foot}>
        <Person />
      </div>
    </header>
  );
}
