const timeDimensions = ['hour', 'day', 'week', 'month'] as const;
const audienceDimensions = ['country', 'region', 'app', 'device', 'platform', 'operating_system'] as const;
const lineItemDimensions = ['advertiser', 'campaign', 'line_item', 'type', 'creative'] as const;

/** Dimensions of a report: the keys of its rows. */
export const reportDimensions = [
  ...timeDimensions,
  'podcast',
  'episode',
  ...lineItemDimensions,
  'break',
  'position',
  'slot',
  'no_ad_reason',
  ...audienceDimensions,
] as const;
export type ReportDimension = (typeof reportDimensions)[number];

/** Dimensions whose keys a filter may name; a report's window filters by time. */
export const reportFilterDimensions = reportDimensions.filter(
  (name): name is Exclude<ReportDimension, (typeof timeDimensions)[number]> =>
    !(timeDimensions as readonly string[]).includes(name),
);

/** What is counted, with the dimensions that are known of it. */
export const reportFacts = {
  downloads: [...timeDimensions, 'podcast', 'episode', ...audienceDimensions],
  listeners: [...timeDimensions, 'podcast', 'episode', ...audienceDimensions],
  ads: [
    ...timeDimensions,
    'podcast',
    'episode',
    ...lineItemDimensions,
    'break',
    'position',
    'slot',
    ...audienceDimensions,
  ],
  requests: [...timeDimensions, 'podcast', 'episode', 'country'],
  opportunities: [...timeDimensions, 'podcast', 'episode', 'break', 'position', 'country'],
  unfilled: [...timeDimensions, 'podcast', 'episode', 'break', 'position', 'no_ad_reason', 'country'],
  player_reports: [...timeDimensions, 'podcast', ...lineItemDimensions],
} as const satisfies Readonly<Record<string, readonly ReportDimension[]>>;
export type ReportFacts = keyof typeof reportFacts;

/** Metrics of a report, each with what it is counted from. */
export const reportMetrics = {
  downloads: 'downloads',
  listeners: 'listeners',
  ad_requests: 'requests',
  ad_opportunities: 'opportunities',
  ads_unfilled: 'unfilled',
  ads_decided: 'ads',
  ads_served: 'ads',
  ads_delivered: 'ads',
  ads_confirmed: 'ads',
  ads_billable: 'ads',
  ad_starts: 'player_reports',
  ad_first_quartiles: 'player_reports',
  ad_midpoints: 'player_reports',
  ad_third_quartiles: 'player_reports',
  ad_completes: 'player_reports',
  ad_clicks: 'player_reports',
} as const satisfies Readonly<Record<string, ReportFacts>>;
export type ReportMetric = keyof typeof reportMetrics;

/** Names of the metrics, for schemas. */
export const reportMetricNames = Object.keys(reportMetrics) as [ReportMetric, ...ReportMetric[]];

/** What internal-serving counts by whole hours from its decisions. */
export const opportunityFacts: readonly ReportFacts[] = ['requests', 'opportunities', 'unfilled'];

/** Windows in which a report counts downloads and listeners; ads and reports of players know the first alone. */
export const reportBases = ['calendar_utc', 'first_touch_24h', 'last_touch_24h'] as const;
export type ReportBasis = (typeof reportBases)[number];

/** A dimension or a basis that one of the metrics does not know. */
export interface ReportConflict {
  readonly metric: ReportMetric;
  /** Undefined: the basis. */
  readonly dimension?: ReportDimension;
}

/** Everything that the metrics of a report do not know: dimensions, those of filters included, and the basis. */
export function reportConflicts(report: {
  readonly dimensions: readonly ReportDimension[];
  readonly metrics: readonly ReportMetric[];
  readonly basis: ReportBasis;
}): ReportConflict[] {
  return report.metrics.flatMap((metric) => {
    const facts = reportMetrics[metric];
    const known: readonly ReportDimension[] = reportFacts[facts];
    const unknown = report.dimensions.filter((dimension) => !known.includes(dimension));
    const hasBasis = report.basis === 'calendar_utc' || facts === 'downloads' || facts === 'listeners';
    return [...unknown.map((dimension) => ({ metric, dimension })), ...(hasBasis ? [] : [{ metric }])];
  });
}

/** Dimensions of money, which has no hours: it is known of a window. */
export const moneyDimensions = ['advertiser', 'campaign', 'line_item', 'type', 'currency', 'basis'] as const;
/** Metrics of money: what was earned in the window, and what statements have charged whose time ends in it, with its units. */
export const moneyMetrics = ['revenue_micros', 'charged_micros', 'charged_units'] as const;
export type MoneyDimension = (typeof moneyDimensions)[number];
export type MoneyMetric = (typeof moneyMetrics)[number];

export const isMoneyMetric = (name: string): name is MoneyMetric => (moneyMetrics as readonly string[]).includes(name);
export const isMoneyDimension = (name: string): name is MoneyDimension =>
  (moneyDimensions as readonly string[]).includes(name);
