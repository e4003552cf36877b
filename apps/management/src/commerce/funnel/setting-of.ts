import type { VerdictCode } from '@longwave/ad-decision';

/** Settings of a line item that a forecast can be asked with, as in `prospective` of `forecast.request`. */
export const forecastSettings = [
  ...([
    'targeting.podcasts',
    'targeting.episodes',
    'targeting.countries',
    'targeting.regions',
    'targeting.languages',
    'targeting.devices',
    'targeting.operating_systems',
    'targeting.apps',
    'targeting.surfaces',
    'targeting.content_categories',
    'targeting.explicit',
    'targeting.episode_age_hours',
    'targeting.dayparts',
  ] as const),
  ...(['break_positions', 'frequency_caps', 'duration_ms', 'priority', 'quantity'] as const),
] as const;

type Setting = (typeof forecastSettings)[number];

/** With which of them changed a forecast says what would be won of a stage; codes that are absent follow from no setting that a forecast knows. */
const settings: Partial<Readonly<Record<VerdictCode, Setting>>> = {
  targeting_podcast: 'targeting.podcasts',
  targeting_episode: 'targeting.episodes',
  targeting_country: 'targeting.countries',
  targeting_region: 'targeting.regions',
  targeting_language: 'targeting.languages',
  targeting_device: 'targeting.devices',
  targeting_operating_system: 'targeting.operating_systems',
  targeting_app: 'targeting.apps',
  targeting_surface: 'targeting.surfaces',
  targeting_content_category: 'targeting.content_categories',
  targeting_explicit: 'targeting.explicit',
  targeting_episode_age: 'targeting.episode_age_hours',
  targeting_daypart: 'targeting.dayparts',
  targeting_position: 'break_positions',
  no_lease: 'quantity',
  capped: 'frequency_caps',
  duration_too_long: 'duration_ms',
  ad_load: 'duration_ms',
  slot_rule: 'duration_ms',
  position_taken: 'break_positions',
  outranked: 'priority',
};

/** The setting to change in a forecast about a verdict; null where none is known. */
export const settingOf = (code: VerdictCode): Setting | null => settings[code] ?? null;
