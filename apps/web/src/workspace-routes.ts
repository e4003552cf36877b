import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { withTexts } from './messages/load-texts.ts';
import { parseDecisionSearch, parsePurpose, type Purpose } from './pages/ads/decisions/decision-search.ts';
import { parseTableSearch, type TableSearch } from './parts/table-rows.ts';
import { rootRoute } from './root-route.ts';

/** Advertising of one workspace: all pages below follow its changes. */
const workspace = createRoute({
  getParentRoute: () => rootRoute,
  path: '/w/$ws',
  staticData: { place: 'ads' },
  component: lazyRouteComponent(
    withTexts('ads', () => import('./pages/ads/workspace-frame.tsx')),
    'WorkspaceFrame',
  ),
});

const reviews = createRoute({
  getParentRoute: () => workspace,
  path: '/review_tasks',
  staticData: { place: 'ads' },
  component: lazyRouteComponent(() => import('./pages/ads/reviews-page.tsx'), 'ReviewsPage'),
});

const review = createRoute({
  getParentRoute: () => workspace,
  path: '/review_tasks/$id',
  staticData: { place: 'ads' },
  component: lazyRouteComponent(() => import('./pages/ads/review-page.tsx'), 'ReviewPage'),
});

/** Decisions about ads: what they are searched by, and what for, stands in the address. Nothing is read on the way: each reading is recorded. */
const decisions = createRoute({
  getParentRoute: () => workspace,
  path: '/decisions',
  staticData: { place: 'ads' },
  validateSearch: parseDecisionSearch,
  component: lazyRouteComponent(
    withTexts('decisions', () => import('./pages/ads/decisions/decisions-page.tsx')),
    'DecisionsPage',
  ),
});

/** One decision, for a purpose; `line` is the line item that "Why not mine?" is asked about. */
const decision = createRoute({
  getParentRoute: () => workspace,
  path: '/decisions/$id',
  staticData: { place: 'ads' },
  validateSearch: (
    search: Readonly<Record<string, unknown>>,
  ): { readonly purpose?: Purpose; readonly line?: string } => {
    const [purpose, line] = [parsePurpose(search['purpose']), search['line']];
    return { ...(purpose && { purpose }), ...(typeof line === 'string' && /^li_[0-9a-z]{26}$/.test(line) && { line }) };
  },
  component: lazyRouteComponent(
    withTexts('decisions', () => import('./pages/ads/decisions/decision-page.tsx')),
    'DecisionPage',
  ),
});

// Finance: its lists and forms are those of every type, and so are the addresses of its resources.
const finance = createRoute({
  getParentRoute: () => workspace,
  path: '/finance',
  staticData: { place: 'ads' },
  component: lazyRouteComponent(
    withTexts('finance', () => import('./pages/finance/finance-page.tsx')),
    'FinancePage',
  ),
});

/** Ids in an address, as `campaign_id=cmp_…`: what a new resource belongs to. */
const parseIds = (search: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(search).filter((entry): entry is [string, string] => /^[a-z]+_[0-9a-z]{26}$/.test(String(entry[1]))),
  );

const newReportRun = createRoute({
  getParentRoute: () => workspace,
  path: '/report_runs/new',
  staticData: { place: 'ads' },
  validateSearch: parseIds,
  component: lazyRouteComponent(
    withTexts('finance', () => import('./pages/finance/new-run-page.tsx')),
    'NewRunPage',
  ),
});

const setup = createRoute({
  getParentRoute: () => workspace,
  path: '/setup',
  staticData: { place: 'ads' },
  component: lazyRouteComponent(() => import('./pages/ads/setup-page.tsx'), 'SetupPage'),
});

/** Every resource of a type, by the type's name: `line_items`. */
const resources = createRoute({
  getParentRoute: () => workspace,
  path: '/$type',
  staticData: { place: 'ads' },
  validateSearch: parseTableSearch,
  component: lazyRouteComponent(() => import('./pages/ads/list-page.tsx'), 'ListPage'),
});

/** A new resource; what it belongs to may stand in the address: `?campaign_id=cmp_…`. */
const newResource = createRoute({
  getParentRoute: () => workspace,
  path: '/$type/new',
  staticData: { place: 'ads' },
  validateSearch: parseIds,
  component: lazyRouteComponent(() => import('./pages/ads/command-page.tsx'), 'NewPage'),
});

/** One resource; of a reconciliation, `item` in its address is the item that is being decided. */
const resource = createRoute({
  getParentRoute: () => workspace,
  path: '/$type/$id',
  staticData: { place: 'ads' },
  validateSearch: ({
    item,
    ...search
  }: Readonly<Record<string, unknown>>): TableSearch & { readonly item?: string } => ({
    ...parseTableSearch(search),
    ...(typeof item === 'string' && { item }),
  }),
  component: lazyRouteComponent(() => import('./pages/ads/resource-page.tsx'), 'ResourcePage'),
});

/** One command about a resource: `line_item.amend`. */
const command = createRoute({
  getParentRoute: () => workspace,
  path: '/$type/$id/$command',
  staticData: { place: 'ads' },
  component: lazyRouteComponent(() => import('./pages/ads/command-page.tsx'), 'CommandPage'),
});

/** The pages of a workspace: advertising, decisions, finance, its setup. */
export const workspaceRoutes = workspace.addChildren([
  ...[reviews, review, decisions, decision, finance, newReportRun, setup],
  ...[resources, newResource, resource, command],
]);
