/** Current names of the zones that Node still lists, and users store, by their earlier names. */
const renamed: Readonly<Record<string, string>> = {
  'Africa/Asmera': 'Africa/Asmara',
  'America/Buenos_Aires': 'America/Argentina/Buenos_Aires',
  'America/Catamarca': 'America/Argentina/Catamarca',
  'America/Coral_Harbour': 'America/Atikokan',
  'America/Cordoba': 'America/Argentina/Cordoba',
  'America/Godthab': 'America/Nuuk',
  'America/Indianapolis': 'America/Indiana/Indianapolis',
  'America/Jujuy': 'America/Argentina/Jujuy',
  'America/Louisville': 'America/Kentucky/Louisville',
  'America/Mendoza': 'America/Argentina/Mendoza',
  'Asia/Calcutta': 'Asia/Kolkata',
  'Asia/Katmandu': 'Asia/Kathmandu',
  'Asia/Rangoon': 'Asia/Yangon',
  'Asia/Saigon': 'Asia/Ho_Chi_Minh',
  'Atlantic/Faeroe': 'Atlantic/Faroe',
  'Europe/Kiev': 'Europe/Kyiv',
  'Pacific/Enderbury': 'Pacific/Kanton',
  'Pacific/Ponape': 'Pacific/Pohnpei',
  'Pacific/Truk': 'Pacific/Chuuk',
};

const zones = Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC');

/** Time zones that a person may choose. */
export const timeZones: readonly string[] = ['UTC', ...zones];

/** Time zones with the names that people know them by, in the order of these. */
export const timeZoneNames: readonly (readonly [zone: string, name: string])[] = [
  ['UTC', 'UTC'] as const,
  ...zones
    .map((zone) => [zone, (renamed[zone] ?? zone).replaceAll('_', ' ')] as const)
    .sort(([, a], [, b]) => (a < b ? -1 : 1)),
];
