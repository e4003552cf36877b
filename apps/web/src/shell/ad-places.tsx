import { Link, useLocation, useParams } from '@tanstack/react-router';
import {
  AudioLines,
  CheckCheck,
  LayoutGrid,
  ListTree,
  Megaphone,
  RadioTower,
  Scale,
  SlidersHorizontal,
  type LucideIcon,
} from 'lucide-react';
import { campaignRoles, useMe, type Me } from '../api/me.ts';
import { t, type MessageKey } from '../messages/messages.ts';
import { Icon } from '../parts/icon.tsx';
import { adPlaceTypes, financeReaders, setupTypes } from './ad-place-types.ts';
import styles from './rail.module.css';

interface Place {
  /** The last part of its address: the type whose list the place is, or `finance`. */
  readonly type: string;
  readonly name: MessageKey;
  readonly icon: LucideIcon;
  /** Types whose pages belong to the place. */
  readonly types: readonly string[];
  /** The roles that see it; every role, where there are none. */
  readonly readers?: readonly string[];
}

const places: readonly Place[] = [
  {
    ...{ type: 'campaigns', name: 'nav.campaigns', icon: Megaphone },
    types: adPlaceTypes.campaigns,
  },
  {
    ...{ type: 'creatives', name: 'nav.creatives', icon: AudioLines },
    types: adPlaceTypes.creatives,
  },
  {
    ...{ type: 'inventory_units', name: 'nav.inventory', icon: LayoutGrid },
    types: adPlaceTypes.inventory_units,
  },
  {
    ...{ type: 'serving_plans', name: 'nav.serving', icon: RadioTower },
    types: adPlaceTypes.serving_plans,
  },
  {
    ...{ type: 'decisions', name: 'nav.decisions', icon: ListTree, readers: campaignRoles },
    types: ['decisions'],
  },
  {
    ...{ type: 'finance', name: 'nav.finance', icon: Scale, readers: financeReaders },
    types: ['finance', ...adPlaceTypes.reconciliations],
  },
];

const reviews: Place = {
  ...{ type: 'review_tasks', name: 'nav.reviews', icon: CheckCheck, types: ['review_tasks'] },
};

/** The workspace whose places the rail has: that of the page, else the account's own, else the first in which the person has a role. */
function workspaceOf(me: Me | undefined, shown: string | undefined): string | undefined {
  const readable = (me?.workspaces ?? []).filter(({ roles }) => roles.length > 0).map(({ id }) => id);
  return [shown, me?.ownWorkspaceId].find((id) => id !== undefined && readable.includes(id)) ?? readable[0];
}

function useAdPlace() {
  const params = useParams({ strict: false });
  const me = useMe();
  const workspace = workspaceOf(me, params.ws);
  const roles = me?.workspaces.find(({ id }) => id === workspace)?.roles ?? [];
  const pathname = useLocation({ select: (location) => location.pathname });
  const isIn = ({ types }: Place) => types.some((type) => pathname.startsWith(`/w/${params.ws ?? ''}/${type}`));
  const isSeen = ({ readers }: Place) => readers?.some((role) => roles.includes(role)) ?? true;
  return { workspace, isIn, isSeen };
}

function PlaceLink({
  place,
  workspace,
  isCurrent,
}: {
  readonly place: Place;
  readonly workspace: string;
  readonly isCurrent: boolean;
}) {
  return (
    <li className={place === places[0] ? undefined : styles.wideOnly}>
      <Link
        to="/w/$ws/$type"
        params={{ ws: workspace, type: place.type }}
        className={styles.place}
        activeOptions={{ exact: true }}
        aria-current={isCurrent ? 'true' : undefined}
      >
        <Icon of={place.icon} />
        {t(place.name)}
      </Link>
    </li>
  );
}

/** The places of advertising, for whoever can read a workspace. */
export function AdPlaces() {
  const { workspace, isIn, isSeen } = useAdPlace();
  if (workspace === undefined) return null;
  return (
    <>
      <div className={styles.caption}>{t('nav.advertising')}</div>
      <ul>
        {places.filter(isSeen).map((place) => (
          <PlaceLink key={place.type} place={place} workspace={workspace} isCurrent={isIn(place)} />
        ))}
      </ul>
    </>
  );
}

/** What waits for a second person. */
export function ReviewPlace() {
  const { workspace, isIn } = useAdPlace();
  return workspace === undefined ? null : <PlaceLink place={reviews} workspace={workspace} isCurrent={isIn(reviews)} />;
}

/** What the workspace is, and who may what in it. */
export function SetupPlace() {
  const { workspace, isIn } = useAdPlace();
  const { pathname } = useLocation();
  if (workspace === undefined) return null;
  const isCurrent = pathname.endsWith('/setup') || isIn({ ...reviews, types: setupTypes });
  return (
    <li className={styles.wideOnly}>
      <Link
        to="/w/$ws/setup"
        params={{ ws: workspace }}
        className={styles.place}
        activeOptions={{ exact: true }}
        aria-current={isCurrent ? 'true' : undefined}
      >
        <Icon of={SlidersHorizontal} />
        {t('nav.setup')}
      </Link>
    </li>
  );
}
